import type { ProjectFieldsFragment, ProjectQuery } from '../operations.generated.ts';
import {
  code,
  integer,
  name,
  nullable,
  type Shape,
  shape,
  type ShapeFields,
  text,
  texts,
  timestamp,
} from '../shape.ts';

const projectFields: ShapeFields<ProjectFieldsFragment> = {
  id: text((project) => project.id),
  workspaceId: text((project) => project.workspaceId),
  name: text((project) => project.name),
  summary: text((project) => project.summary),
  description: text((project) => project.description),
  slug: text((project) => project.slug),
  key: text((project) => project.key),
  iconCss: text((project) => project.iconCss),
  color: text((project) => project.color),
  state: name('ProjectState', (project) => project.state),
  statusId: text((project) => project.statusId),
  teamId: text((project) => project.teamId),
  leadUserAccountId: text((project) => project.leadUserAccountId ?? ''),
  priority: code('Priority', (project) => project.priority),
  labelIds: texts((project) => project.labelIds),
  targetUtc: nullable(timestamp((project) => project.targetUtc)),
  progressPercent: integer((project) => project.progressPercent),
  linkCount: integer((project) => project.linkCount),
};

/** The specification's Project, as lists show it. */
export const project: Shape<ProjectFieldsFragment> = shape('Project', projectFields);

/** The specification's Project detail. */
export const projectDetail: Shape<NonNullable<ProjectQuery['project']>> = shape('ProjectDetail', {
  ...projectFields,
  memberUserAccountIds: texts((project) => project.memberUserAccountIds),
  startUtc: nullable(timestamp((project) => project.startUtc)),
});
