import { typeId } from '../servers/type-id.ts';
import { kindOf } from '../workloads/all.ts';

// Converts PostGraphile's answers to the product's form: encodes ids, replaces codes by names, concatenates keys,
// unwraps lists. A client of PostGraphile would do this, so it is not measured.

// eslint-disable-next-line typescript/no-explicit-any -- JSON of another server, compared as a whole afterwards
type Json = any;

const priorities = ['NONE', 'URGENT', 'HIGH', 'MEDIUM', 'LOW'];
const categories = ['', 'BACKLOG', 'OPEN', 'ACTIVE', 'COMPLETED', 'CANCELED'];
const deliveryStates = ['', 'PLANNED', 'ACTIVE', 'COMPLETED'];
const principalKinds = ['NOBODY', 'USER', 'AGENT', 'SERVICE'];

export function canonical(workload: string, answer: unknown): unknown {
  const { data } = answer as { data: Json };
  switch (kindOf(workload)) {
    case 'W2':
      return { data: { issues: { ...data.issues, nodes: data.issues.nodes.map(wholeIssue) } } };
    case 'W3':
      return { data: { issue: issueWithComments(data.teamByWorkspaceIdAndCode) } };
    case 'W8':
      return { data: { issues: { ...data.issues, nodes: data.issues.nodes.map(pageRow) } } };
    default:
      return { data: { teams: { ...data.teams, nodes: data.teams.nodes.map(dashboardTeam) } } };
  }
}

const id = (prefix: string, uuid: string | null) => (uuid === null ? null : typeId(prefix, uuid));
const time = (text: string | null) => (text === null ? null : new Date(text).toISOString());
const byName = (one: Json, other: Json) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1);
const labelsOf = ({ nodes }: Json): Json[] => nodes.map(({ label }: Json) => label).sort(byName);

function dashboardTeam(team: Json): Json {
  const nodes = team.issues.nodes.map(({ number, ...issue }: Json) => ({
    ...issue,
    key: `${team.code}-${number}`,
    priority: priorities[issue.priority],
    labels: labelsOf(issue.labels),
  }));
  return { ...team, issues: { ...team.issues, nodes } };
}

function pageRow({ rowId, number, team, ...issue }: Json): Json {
  return {
    ...issue,
    id: id('issue', rowId),
    key: `${team.code}-${number}`,
    priority: priorities[issue.priority],
    createdUtc: time(issue.createdUtc),
  };
}

function statusOf({ rowId, ...status }: Json): Json {
  return { ...status, id: id('status', rowId), category: categories[status.category] };
}

function wholeIssue({ rowId, number, ...issue }: Json): Json {
  const labels = labelsOf(issue.labels).map(({ rowId: labelId, group, ...label }) => ({
    ...label,
    id: id('label', labelId),
    teamId: id('team', label.teamId),
    groupId: id('label', label.groupId),
    groupName: group?.name ?? null,
  }));
  const assignees = issue.assignees.nodes.map(({ member }: Json) => ({
    ...member,
    userAccountId: id('user', member.userAccountId),
    principalKind: principalKinds[member.principalKind],
  }));
  const roleAssignments = issue.roleAssignments.nodes.map(({ role, userAccountId, member }: Json) => ({
    role,
    userAccountId: id('user', userAccountId),
    displayName: member.displayName,
  }));
  return {
    ...issue,
    id: id('issue', rowId),
    key: `${issue.team.code}-${number}`,
    priority: priorities[issue.priority],
    teamId: id('team', issue.teamId),
    reporterUserAccountId: id('user', issue.reporterUserAccountId),
    parentIssueId: id('issue', issue.parentIssueId),
    statusId: id('status', issue.statusId),
    primaryAssigneeUserAccountId: id('user', issue.primaryAssigneeUserAccountId),
    projectId: id('project', issue.projectId),
    deliveryId: id('delivery', issue.deliveryId),
    assigneeUserAccountIds: assignees.map(({ userAccountId }: Json) => userAccountId),
    labelIds: labels.map((label) => label.id),
    status: statusOf(issue.status),
    project: issue.project && cardOf('project', issue.project),
    delivery: issue.delivery && deliveryOf(issue.delivery),
    assignees,
    roleAssignments,
    labels,
    createdUtc: time(issue.createdUtc),
    updatedUtc: time(issue.updatedUtc),
    lastActivityUtc: time(issue.lastActivityUtc),
    lastCommentUtc: time(issue.lastCommentUtc),
    closedUtc: time(issue.closedUtc),
  };
}

function cardOf(prefix: string, { rowId, teamId, ...card }: Json): Json {
  return { ...card, id: id(prefix, rowId), teamId: id('team', teamId) };
}

function deliveryOf({ totals, ...delivery }: Json): Json {
  const today = new Date().toISOString().slice(0, 10);
  const { startsOn, endsOn, state } = delivery;
  return {
    ...cardOf('delivery', delivery),
    ...totals,
    state: deliveryStates[state],
    isCurrent: startsOn <= today && today <= endsOn,
    isUpcoming: startsOn > today,
  };
}

function issueWithComments({ rowId: teamRowId, code, name, issues }: Json): Json {
  const [{ rowId, number, ...issue }] = issues.nodes;
  const member = (card: Json) => card && { ...card, userAccountId: id('user', card.userAccountId) };
  const comments = issue.comments.nodes.map(({ rowId: commentId, ...comment }: Json) => ({
    ...comment,
    id: id('comment', commentId),
    // The viewer is an owner, who may manage all comments.
    canManage: true,
    createdUtc: time(comment.createdUtc),
    author: member(comment.author),
  }));
  return {
    ...issue,
    id: id('issue', rowId),
    key: `${code}-${number}`,
    priority: priorities[issue.priority],
    createdUtc: time(issue.createdUtc),
    updatedUtc: time(issue.updatedUtc),
    team: { id: id('team', teamRowId), code, name },
    status: statusOf(issue.status),
    project: issue.project && {
      id: id('project', issue.project.rowId),
      key: issue.project.key,
      name: issue.project.name,
    },
    primaryAssignee: member(issue.primaryAssignee),
    labels: labelsOf(issue.labels).map(({ rowId: labelId, ...label }) => ({
      ...label,
      id: id('label', labelId),
    })),
    comments: { ...issue.comments, nodes: comments },
  };
}
