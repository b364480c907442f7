import { limits } from '../../model/limits.ts';
import type { IssueLinkFieldsFragment, ProjectLinkFieldsFragment } from '../operations.generated.ts';
import { id, type Shape, shape, text, timestamp, url } from '../shape.ts';

/** The specification's Issue link. */
export const issueLink: Shape<IssueLinkFieldsFragment> = shape(
  'IssueLink',
  {
    linkId: id('link', 'id'),
    id: id('link', 'id'),
    url: url('url'),
    title: text(limits.title, 'title'),
    createdUtc: timestamp('createdUtc'),
  },
  'revision',
);

/** The specification's Project link, which has no `id`. */
export const projectLink: Shape<ProjectLinkFieldsFragment> = shape('ProjectLink', {
  linkId: id('plink', 'id'),
  url: url('url'),
  title: text(limits.title, 'title'),
  createdUtc: timestamp('createdUtc'),
  createdByUserAccountId: id('user', 'createdByUserAccountId'),
});
