import { limits } from '../../schema/builder/limits.ts';
import type { ProjectFieldsFragment, ProjectQuery } from '../operations.generated.ts';
import {
  code,
  id,
  ids,
  integer,
  name,
  nullable,
  type Shape,
  shape,
  type ShapeFields,
  text,
  timestamp,
} from '../shape.ts';

const projectFields: ShapeFields<ProjectFieldsFragment> = {
  id: id('project', (project) => project.id),
  workspaceId: id('workspace', (project) => project.workspaceId),
  name: text(limits.name, (project) => project.name),
  summary: text(limits.summary, (project) => project.summary),
  description: text(limits.description, (project) => project.description),
  slug: text(limits.slug, (project) => project.slug),
  key: text(limits.projectKey, (project) => project.key),
  iconCss: text(limits.iconCss, (project) => project.iconCss),
  color: text(limits.color, (project) => project.color),
  state: name('ProjectState', (project) => project.state),
  statusId: id('pstatus', (project) => project.statusId),
  teamId: id('team', (project) => project.teamId),
  leadUserAccountId: id('user', (project) => project.leadUserAccountId ?? ''),
  priority: code('Priority', (project) => project.priority),
  labelIds: ids('label', limits.projectLabels, (project) => project.labelIds),
  targetUtc: nullable(timestamp((project) => project.targetUtc)),
  progressPercent: integer((project) => project.progressPercent),
  linkCount: integer((project) => project.linkCount),
};

/** The specification's Project, as lists show it. */
export const project: Shape<ProjectFieldsFragment> = shape('Project', projectFields);

/** The specification's Project detail. */
export const projectDetail: Shape<NonNullable<ProjectQuery['project']>> = shape('ProjectDetail', {
  ...projectFields,
  memberUserAccountIds: ids('user', limits.projectMembers, (project) => project.memberUserAccountIds),
  startUtc: nullable(timestamp((project) => project.startUtc)),
});
