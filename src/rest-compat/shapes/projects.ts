import { limits } from '../../model/limits.ts';
import type { ProjectFieldsFragment, ProjectQuery } from '../operations.generated.ts';
import { code, id, ids, integer, name, nullable, type Shape, shape, text, timestamp } from '../shape.ts';

const projectFields = {
  id: id('project', 'id'),
  workspaceId: id('workspace', 'workspaceId'),
  name: text(limits.name, 'name'),
  summary: text(limits.summary, 'summary'),
  description: text(limits.description, 'description'),
  slug: text(limits.slug, 'slug'),
  key: text(limits.projectKey, 'key'),
  iconCss: text(limits.iconCss, 'iconCss'),
  color: text(limits.color, 'color'),
  state: name('ProjectState', 'state'),
  statusId: id('pstatus', 'statusId'),
  teamId: id('team', 'teamId'),
  leadUserAccountId: id('user', 'leadUserAccountId', { ifNull: '' }),
  priority: code('Priority', 'priority'),
  labelIds: ids('label', limits.projectLabels, 'labelIds'),
  targetUtc: nullable(timestamp('targetUtc')),
  progressPercent: integer('progressPercent'),
  linkCount: integer('linkCount'),
};

/** The specification's Project, as lists show it. */
export const project: Shape<ProjectFieldsFragment> = shape('Project', projectFields);

/** The specification's Project detail. */
export const projectDetail: Shape<NonNullable<ProjectQuery['project']>> = shape('ProjectDetail', {
  ...projectFields,
  memberUserAccountIds: ids('user', limits.projectMembers, 'memberUserAccountIds'),
  startUtc: nullable(timestamp('startUtc')),
});
