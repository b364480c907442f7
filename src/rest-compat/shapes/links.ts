import { limits } from '../../schema/builder/limits.ts';
import type { IssueLinkFieldsFragment, ProjectLinkFieldsFragment } from '../operations.generated.ts';
import { id, type Shape, shape, text, timestamp, url } from '../shape.ts';

/** The specification's Issue link. */
export const issueLink: Shape<IssueLinkFieldsFragment> = shape(
  'IssueLink',
  {
    linkId: id('link', (link) => link.id),
    id: id('link', (link) => link.id),
    url: url((link) => link.url),
    title: text(limits.title, (link) => link.title),
    createdUtc: timestamp((link) => link.createdUtc),
  },
  (link) => link.revision,
);

/** The specification's Project link, which has no `id`. */
export const projectLink: Shape<ProjectLinkFieldsFragment> = shape('ProjectLink', {
  linkId: id('plink', (link) => link.id),
  url: url((link) => link.url),
  title: text(limits.title, (link) => link.title),
  createdUtc: timestamp((link) => link.createdUtc),
  createdByUserAccountId: id('user', (link) => link.createdByUserAccountId),
});
