import { beforeAll, describe, expect, it } from '@jest/globals';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { expectFields, issue as issueTable, problem } from './fields.ts';
import { expectRefused } from './refusals.ts';

type Body = Record<string, unknown> & { id: string; key: string };

const { app, world } = useIssueWorld();
let minimal: Record<string, unknown>;
beforeAll(() => {
  minimal = { teamId: world.eng.id, title: 'Title', description: '', priority: 0 };
});

const patch = (key: string, body: unknown, token?: string) =>
  app.request<Body>('PATCH', `/v1/issues/${key}`, { body, ...(token && { token }) });

async function newIssue(fields: Record<string, unknown> = {}): Promise<Body> {
  const { status, body } = await app.request<Body>('POST', '/v1/issues', { body: { ...minimal, ...fields } });
  expect(status).toBe(201);
  return body;
}

describe('PATCH /v1/issues/{issueKey}', () => {
  it('changes only the fields of the body, and answers with the whole issue', async () => {
    const before = await newIssue({ priority: 2, estimateValue: 3, labelIds: [world.eng.bug] });
    const { status, body } = await patch(before.key.toLowerCase(), { title: ' New ' });
    expect(status).toBe(200);
    expectFields(body, issueTable);
    const changed = {
      title: 'New',
      updatedUtc: expect.any(String),
      lastActivityUtc: expect.any(String),
    };
    expect(body).toEqual({ ...before, ...changed });
    expect(body.updatedUtc).toBe(body.lastActivityUtc);
  });

  it('sets every writable field, and clears by the flags', async () => {
    const { key } = await newIssue();
    const fields = {
      title: 'All of it',
      description: 'Said.',
      priority: 4,
      primaryAssigneeUserAccountId: world.bob.id,
      projectId: world.gemini,
      deliveryId: world.eng.sprint2,
      estimateValue: 0,
      dueDate: '2028-02-29',
      labelIds: [world.eng.feature],
    };
    const set = await patch(key, { ...fields, issueStatusId: world.eng.done });
    expect(set.body).toMatchObject({ ...fields, statusId: world.eng.done, closedUtc: expect.any(String) });
    const flags = {
      clearPrimaryAssignee: true,
      clearProject: true,
      clearDelivery: true,
      clearEstimate: true,
      clearDueDate: true,
    };
    const cleared = await patch(key, { ...flags, labelIds: [], issueStatusId: world.eng.doing });
    expectFields(cleared.body, issueTable);
    expect(cleared.body).toMatchObject({
      primaryAssigneeUserAccountId: null,
      assignees: [],
      projectId: null,
      project: null,
      deliveryId: null,
      delivery: null,
      estimateValue: null,
      dueDate: null,
      labelIds: [],
      closedUtc: null,
      title: 'All of it',
    });
  });

  const pairs = [
    ['primaryAssigneeUserAccountId', 'clearPrimaryAssignee', 'user_01h455vb4pex5vsknk084sn02q'],
    ['projectId', 'clearProject', 'project_01h455vb4pex5vsknk084sn02q'],
    ['deliveryId', 'clearDelivery', 'delivery_01h455vb4pex5vsknk084sn02q'],
    ['estimateValue', 'clearEstimate', 1],
    ['dueDate', 'clearDueDate', '2026-01-31'],
  ] as const;

  it.each(pairs)('does not take %s together with %s', async (field, flag, value) => {
    const { key } = await newIssue();
    expectRefused(await patch(key, { [field]: value, [flag]: true }), [flag]);
    expectRefused(await patch(key, { [flag]: 'true' }), [flag]);
    expectRefused(await patch(key, { [flag]: false }), ['body']);
    expect((await patch(key, { [field]: null, [flag]: true })).status).toBe(200);
  });

  it('accepts a value together with a clear flag that is false', async () => {
    const { key } = await newIssue();
    const { body } = await patch(key, { projectId: world.apollo, clearProject: false });
    expect(body).toMatchObject({ projectId: world.apollo });
  });

  it.each([
    [{}],
    [{ title: null }],
    [{ clearProject: false, projectId: null }],
    [{ status: 'x' }],
    [{ teamId: 'x' }],
  ])('refuses a body with nothing to write: %j', async (body) => {
    const { key } = await newIssue();
    expectRefused(await patch(key, body), ['body']);
  });

  it.each([
    ['dueDate', '2026-02-30'],
    ['dueDate', '2026-1-1'],
    ['dueDate', '2026-01-01T00:00:00Z'],
    ['dueDate', 20260101],
    ['issueStatusId', 'todo'],
    ['labelIds', {}],
    ['title', ''],
    ['priority', 9],
  ])('refuses a bad %s: %j', async (field, value) => {
    const { key } = await newIssue();
    expectRefused(await patch(key, { [field]: value }), [field]);
  });

  it('answers 404 for an unknown issue, after validating the body and before looking up its references', async () => {
    const absent = [
      'ENG-999999',
      'NOPE-1',
      'ENG-0',
      'ENG-01',
      'ENG',
      'x',
      '-1',
      'ENG-1%00',
      'ENG%2F1',
      'ENG-99999999999',
    ];
    for (const key of absent) {
      const answer = await patch(key, { title: 'x' });
      expect([key, answer.status]).toEqual([key, 404]);
      expectFields(answer.body, problem);
      expect(answer.body).toMatchObject({ code: 'not_found' });
      expectRefused(await patch(key, { title: '' }), ['title']);
      expect((await patch(key, { issueStatusId: world.ops.todo })).status).toBe(404);
    }
    const { id, key } = await newIssue();
    expect((await patch(id, { title: 'x' })).status).toBe(404);
    const second = await app.secondWorkspace();
    expect((await patch(key, { title: 'x' }, second.token)).status).toBe(404);
  });

  it('reports invalid references by the field names of the body', async () => {
    const { key } = await newIssue();
    const references = {
      issueStatusId: world.ops.todo,
      deliveryId: world.ops.sprint1,
      labelIds: [world.ops.bug],
    };
    const answer = await patch(key, references);
    const { errors } = answer.body as unknown as { errors: { field: string }[] };
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(errors.map(({ field }) => field).toSorted()).toEqual(Object.keys(references).toSorted());
    const one = await patch(key, { issueStatusId: world.ops.todo });
    expect(one.body.detail).toMatch(/^issueStatusId: /);
  });

  it('is allowed for members and refused for guests', async () => {
    const { key } = await newIssue();
    expect((await patch(key, { title: 'By Ada' }, world.ada.token)).status).toBe(200);
    const refused = await patch(key, { title: 'By a guest' }, world.guest.token);
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
  });
});
