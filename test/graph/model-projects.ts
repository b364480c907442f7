import { fold } from '../../src/model/fold.ts';
import { type Thing, thing, type Things } from './model.ts';
import { codeName, compareBy, idOf, utc } from './values.ts';

type Rows = Things['rows'];

/** Projects, their statuses and their links, from their rows. */
export function projectThings(things: Things): Thing[] {
  const { rows } = things;
  return [
    ...rows.projectStatus.map(projectStatus),
    ...rows.project.map((row) => project(things, row)),
    ...rows.projectLink.map((row) => projectLink(things, row)),
  ];
}

function projectStatus({
  id,
  name,
  description,
  color,
  state,
  position,
}: Rows['projectStatus'][number]): Thing {
  const shown = {
    id: idOf('pstatus', id),
    name,
    description,
    color,
    state: codeName('projectState', state),
    position,
  };
  return thing('ProjectStatus', shown, {});
}

function project(things: Things, row: Rows['project'][number]): Thing {
  const id = idOf('project', row.id);
  const teamId = idOf('team', row.teamId);
  const statusId = idOf('pstatus', row.statusId);
  const leadUserAccountId = idOf('user', row.leadUserAccountId);
  const counts = things.rows.projectCount.filter(({ projectId }) => projectId === row.id);
  const total = counts.reduce((sum, { issueCount }) => sum + issueCount, 0);
  const completed = counts.reduce((sum, { completedIssueCount }) => sum + completedIssueCount, 0);
  const members = () =>
    things.rows.projectMember
      .filter(({ projectId }) => projectId === row.id)
      .map(({ userAccountId }) => things.member(idOf('user', userAccountId)) as Thing)
      .toSorted(
        compareBy(
          (each) => fold(String(each.displayName)),
          (each) => String(each.id),
        ),
      );
  const labels = () =>
    things.rows.projectLabel
      .filter(({ projectId }) => projectId === row.id)
      .map(({ labelId }) => things.find('Label', idOf('label', labelId)) as Thing)
      .toSorted(
        compareBy(
          (each) => fold(String(each.name)),
          (each) => String(each.id),
        ),
      );
  const { key, name, iconCss, color, summary, description, slug, linkCount } = row;
  return thing(
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
      team: () => things.find('Team', teamId),
      status: () => things.find('ProjectStatus', statusId),
      lead: () => leadUserAccountId && things.member(leadUserAccountId),
      labelIds: () => labels().map((each) => each.id),
      labels,
      memberUserAccountIds: () => members().map((each) => each.userAccountId),
      members,
      issues: () => things.where('Issue', 'projectId', id),
      links: () => things.where('ProjectLink', 'projectId', id),
    },
  );
}

function projectLink(things: Things, row: Rows['projectLink'][number]): Thing {
  const { url, title } = row;
  const projectId = idOf('project', row.projectId);
  const createdByUserAccountId = idOf('user', row.createdByUserAccountId);
  const createdUtc = utc(row.createdUtc);
  return thing(
    'ProjectLink',
    { id: idOf('plink', row.id), url, title, createdUtc, createdByUserAccountId, projectId },
    {
      createdBy: () => things.member(createdByUserAccountId),
      project: () => things.find('Project', projectId),
    },
  );
}
