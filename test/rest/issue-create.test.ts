import { beforeAll, describe, expect, it } from '@jest/globals';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { expectFields, issue as issueTable } from './fields.ts';
import { expectRefused } from './refusals.ts';

type Body = Record<string, unknown> & { id: string; key: string };

const { app, world } = useIssueWorld();
let minimal: Record<string, unknown>;
beforeAll(() => {
  minimal = { teamId: world.eng.id, title: 'Title', description: '', priority: 0 };
});

const post = (body: unknown) => app.request<Body>('POST', '/v1/issues', { body });

async function newIssue(fields: Record<string, unknown> = {}): Promise<Body> {
  const { status, body } = await app.request<Body>('POST', '/v1/issues', { body: { ...minimal, ...fields } });
  expect(status).toBe(201);
  return body;
}

const unknownIds = {
  team: 'team_01h455vb4pex5vsknk084sn02q',
  status: 'status_01h455vb4pex5vsknk084sn02q',
};

describe('POST /v1/issues', () => {
  it('answers 201 with the fields of the specification, counts of 0 and null for times of events that have not happened', async () => {
    const { status, body } = await post(minimal);
    expect(status).toBe(201);
    expectFields(body, issueTable);
    expect(body).toMatchObject({
      teamId: world.eng.id,
      teamCode: 'ENG',
      teamName: 'Team ENG',
      title: 'Title',
      description: '',
      priority: 0,
      reporterUserAccountId: world.owner.id,
      reporterDisplayName: 'Olive Owner',
      reporterAvatarUrl: '',
      statusId: world.eng.todo,
      status: {
        statusId: world.eng.todo,
        id: world.eng.todo,
        name: 'Todo',
        category: 'open',
        isInitial: true,
      },
      parentIssueId: null,
      primaryAssigneeUserAccountId: null,
      projectId: null,
      project: null,
      deliveryId: null,
      delivery: null,
      estimateValue: null,
      assignees: [],
      assigneeUserAccountIds: [],
      labels: [],
      labelIds: [],
      roleAssignments: [],
      commentCount: 0,
      subIssueCount: 0,
      linkCount: 0,
      dueDate: null,
      closedUtc: null,
      lastCommentUtc: null,
      lastActivityUtc: null,
      isSubscribed: true,
    });
    expect(body.updatedUtc).toBe(body.createdUtc);
  });

  it('accepts every field of the specification, and shows the objects that they refer to', async () => {
    const parent = await newIssue();
    const { status, body } = await post({
      teamId: world.eng.id,
      parentIssueId: parent.id,
      projectId: world.apollo,
      deliveryId: world.eng.sprint1,
      title: '  Fix the pump \n',
      description: ' As it is.\n',
      initialStatusId: world.eng.done,
      priority: 1,
      estimateValue: 8,
      primaryAssigneeUserAccountId: world.ada.id,
      labelIds: [world.shared, world.eng.bug, world.eng.bug],
    });
    expect(status).toBe(201);
    expectFields(body, issueTable);
    expect(body).toMatchObject({
      title: 'Fix the pump',
      description: ' As it is.\n',
      parentIssueId: parent.id,
      projectId: world.apollo,
      project: {
        projectId: world.apollo,
        id: world.apollo,
        teamId: world.eng.id,
        name: 'Apollo',
        key: 'APOLLO',
      },
      deliveryId: world.eng.sprint1,
      delivery: {
        deliveryId: world.eng.sprint1,
        state: 'planned',
        issueCount: 1,
        estimatedScope: 8,
        closedIssueCount: 1,
      },
      statusId: world.eng.done,
      status: { category: 'completed', isTerminal: true },
      priority: 1,
      estimateValue: 8,
      primaryAssigneeUserAccountId: world.ada.id,
      assigneeUserAccountIds: [world.ada.id],
      assignees: [
        { userAccountId: world.ada.id, displayName: 'Ada Member', avatarUrl: '', principalKind: 1 },
      ],
      closedUtc: null,
    });
    expect(body.labels).toEqual([
      expect.objectContaining({
        labelId: world.eng.bug,
        id: world.eng.bug,
        name: 'Bug',
        teamId: world.eng.id,
      }),
      expect.objectContaining({ labelId: world.shared, teamId: '', groupId: '', groupName: '' }),
    ]);
  });

  it('treats null like a missing field, and ignores unknown fields', async () => {
    const optional = {
      parentIssueId: null,
      projectId: null,
      initialStatusId: null,
      estimateValue: null,
      labelIds: null,
    };
    const body = await newIssue({ ...optional, dueDate: 'whatever', nonsense: {} });
    expect(body).toMatchObject({
      projectId: null,
      estimateValue: null,
      dueDate: null,
      statusId: world.eng.todo,
    });
  });

  it('numbers the issues of a team without gaps, although requests in between were refused', async () => {
    const first = await newIssue();
    await post({ ...minimal, projectId: unknownIds.team });
    await post({ ...minimal, initialStatusId: unknownIds.status });
    const second = await newIssue();
    expect(Number(second.key.slice(4))).toBe(Number(first.key.slice(4)) + 1);
  });

  it('reports all missing and invalid fields at once', async () => {
    expectRefused(await post({}), ['teamId', 'title', 'description', 'priority']);
    const wrong = {
      teamId: 7,
      parentIssueId: world.eng.id,
      projectId: '',
      deliveryId: 'x',
      title: ' ',
      description: false,
      initialStatusId: [],
      priority: 5,
      estimateValue: -1,
      primaryAssigneeUserAccountId: {},
      labelIds: [world.eng.bug, 'x', 3],
    };
    expectRefused(await post(wrong), [...Object.keys(wrong), 'labelIds']);
  });

  it.each([
    ['title', 'x'.repeat(256)],
    ['title', 'a\0b'],
    ['title', '\ud800'],
    ['title', null],
    ['description', 'x'.repeat(100_001)],
    ['description', null],
    ['priority', '1'],
    ['priority', 1.5],
    ['priority', -1],
    ['priority', true],
    ['estimateValue', 2_147_483_648],
    ['estimateValue', 0.5],
    ['labelIds', 'x'],
    ['labelIds', Array.from({ length: 51 }, () => 'label_01h455vb4pex5vsknk084sn02q')],
    ['teamId', 'team_8h455vb4pex5vsknk084sn02qx'],
    ['teamId', 'TEAM_01h455vb4pex5vsknk084sn02q'],
  ])('refuses a bad %s', async (field, value) => {
    expectRefused(await post({ ...minimal, [field]: value }), [field]);
  });

  it('counts characters, not UTF-16 units', async () => {
    const title = '🐢'.repeat(255);
    expect(await newIssue({ title })).toMatchObject({ title });
    expectRefused(await post({ ...minimal, title: `${title}!` }), ['title']);
  });

  it('reports all invalid references at once, by the field names of the body', async () => {
    const references = {
      parentIssueId: 'issue_01h455vb4pex5vsknk084sn02q',
      projectId: 'project_01h455vb4pex5vsknk084sn02q',
      deliveryId: world.ops.sprint1,
      initialStatusId: world.ops.todo,
      primaryAssigneeUserAccountId: world.suspended.id,
      labelIds: [world.group],
    };
    const answer = await post({ ...minimal, ...references });
    const { errors } = answer.body as unknown as { errors: { field: string }[] };
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(errors.map(({ field }) => field).toSorted()).toEqual(Object.keys(references).toSorted());
    expectRefused(await post({ ...minimal, teamId: unknownIds.team }), ['teamId']);
  });

  it('needs a bounded number of statements', async () => {
    expect((await post(minimal)).statements).toBeLessThanOrEqual(22);
  });
});
