import type { IssueLinkFieldsFragment, ProjectLinkFieldsFragment } from '../operations.generated.ts';
import { type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Issue link. */
export const issueLink: Shape<IssueLinkFieldsFragment> = shape(
  'IssueLink',
  {
    linkId: text((link) => link.id),
    id: text((link) => link.id),
    url: text((link) => link.url),
    title: text((link) => link.title),
    createdUtc: timestamp((link) => link.createdUtc),
  },
  (link) => link.revision,
);

/** The specification's Project link, which has no `id`. */
export const projectLink: Shape<ProjectLinkFieldsFragment> = shape('ProjectLink', {
  linkId: text((link) => link.id),
  url: text((link) => link.url),
  title: text((link) => link.title),
  createdUtc: timestamp((link) => link.createdUtc),
  createdByUserAccountId: text((link) => link.createdByUserAccountId),
});
