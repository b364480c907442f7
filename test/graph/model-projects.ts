import { fold } from '../../src/model/fold.ts';
import { type ModelObject, modelObject, type Model } from './model.ts';
import { codeName, compareBy, idOf, utc } from './values.ts';

type Rows = Model['rows'];

/** Projects, their statuses and their links, from their rows. */
export function projectObjects(model: Model): ModelObject[] {
  const { rows } = model;
  return [
    ...rows.projectStatus.map(projectStatus),
    ...rows.project.map((row) => project(model, row)),
    ...rows.projectLink.map((row) => projectLink(model, row)),
  ];
}

function projectStatus({
  id,
  name,
  description,
  color,
  state,
  position,
}: Rows['projectStatus'][number]): ModelObject {
  const shown = {
    id: idOf('pstatus', id),
    name,
    description,
    color,
    state: codeName('projectState', state),
    position,
  };
  return modelObject('ProjectStatus', shown, {});
}

function project(model: Model, row: Rows['project'][number]): ModelObject {
  const id = idOf('project', row.id);
  const teamId = idOf('team', row.teamId);
  const statusId = idOf('pstatus', row.statusId);
  const leadUserAccountId = idOf('user', row.leadUserAccountId);
  const counts = model.rows.projectCount.filter(({ projectId }) => projectId === row.id);
  const total = counts.reduce((sum, { issueCount }) => sum + issueCount, 0);
  const completed = counts.reduce((sum, { completedIssueCount }) => sum + completedIssueCount, 0);
  const members = () =>
    model.rows.projectMember
      .filter(({ projectId }) => projectId === row.id)
      .map(({ userAccountId }) => model.member(idOf('user', userAccountId)) as ModelObject)
      .toSorted(
        compareBy(
          (each) => fold(String(each.displayName)),
          (each) => String(each.id),
        ),
      );
  const labels = () =>
    model.rows.projectLabel
      .filter(({ projectId }) => projectId === row.id)
      .map(({ labelId }) => model.find('Label', idOf('label', labelId)) as ModelObject)
      .toSorted(
        compareBy(
          (each) => fold(String(each.name)),
          (each) => String(each.id),
        ),
      );
  const { key, name, iconCss, color, summary, description, slug, linkCount } = row;
  return modelObject(
    'Project',
    {
      id,
      key,
      name,
      iconCss,
      color,
      teamId,
      summary,
      description,
      slug,
      statusId,
      leadUserAccountId,
      linkCount,
      workspaceId: idOf('workspace', row.workspaceId),
      state: codeName('projectState', row.state),
      priority: codeName('priority', row.priority),
      startUtc: utc(row.startUtc),
      targetUtc: utc(row.targetUtc),
      progressPercent: total ? Math.round((100 * completed) / total) : 0,
      createdUtc: utc(row.createdUtc),
      updatedUtc: utc(row.updatedUtc),
    },
    {
      team: () => model.find('Team', teamId),
      status: () => model.find('ProjectStatus', statusId),
      lead: () => leadUserAccountId && model.member(leadUserAccountId),
      labelIds: () => labels().map((each) => each.id),
      labels,
      memberUserAccountIds: () => members().map((each) => each.userAccountId),
      members,
      issues: () => model.where('Issue', 'projectId', id),
      links: () => model.where('ProjectLink', 'projectId', id),
    },
  );
}

function projectLink(model: Model, row: Rows['projectLink'][number]): ModelObject {
  const { url, title } = row;
  const projectId = idOf('project', row.projectId);
  const createdByUserAccountId = idOf('user', row.createdByUserAccountId);
  const createdUtc = utc(row.createdUtc);
  return modelObject(
    'ProjectLink',
    { id: idOf('plink', row.id), url, title, createdUtc, createdByUserAccountId, projectId },
    {
      createdBy: () => model.member(createdByUserAccountId),
      project: () => model.find('Project', projectId),
    },
  );
}
