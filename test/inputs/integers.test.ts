import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, type GraphQLInputField, GraphQLInt, isInputObjectType } from 'graphql';
import type { Route } from '../../src/rest-compat/route.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { schema } from '../../src/schema/index.ts';
import { type App, startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { installAgent, type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import { sampled } from '../support/samples.ts';

// Each role sends each integer argument of a write at its extremes. Then other roles continue with the same issue.
// A write must never store a number that the next write cannot increase.
// In CI and with `CASES=all` every role sends each of them; in other runs only some roles.
const oneOf = 4;

let app: App;
let world: IssueWorld;
let tokens: Record<Role, string>;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  world = await issueWorld(app);
  await installAgent(app, world, world.agent);
  const { owner, admin, ada, guest, agent, service } = world;
  tokens = {
    owner: owner.token,
    admin: admin.token,
    member: ada.token,
    guest: guest.token,
    agent: agent.token,
    service: service.token,
  };
});

afterAll(async () => {
  const broken = await brokenInvariants(app.database);
  await app.stop();
  expect(broken).toEqual({});
});

const roles = ['owner', 'admin', 'member', 'guest', 'agent', 'service'] as const;
type Role = (typeof roles)[number];
type Input = Record<string, unknown>;

const extremes = [-2_147_483_648, -1, 0, 1, 2_147_483_646, 2_147_483_647];
const messageTypes = ['PROMPT', 'THOUGHT', 'ACTION', 'ELICITATION', 'RESPONSE', 'ERROR'];

/** An issue in a delivery, with one object of each kind that a write can name. */
interface Target {
  id: string;
  key: string;
  commentId: string;
  linkId: string;
  attachmentId: string;
  webhookId: string;
}

/** The other fields of the input of each mutation with an integer. */
const inputs: Readonly<Record<string, (target: Target) => Input>> = {
  agentMessageCreate: ({ key }) => ({ issueKey: key, body: 'At an extreme' }),
  attachmentCreate: ({ key }) => ({ issueKey: key, fileName: 'a.txt', contentType: 'text/plain' }),
  attachmentDelete: ({ attachmentId }) => ({ id: attachmentId }),
  commentDelete: ({ commentId }) => ({ id: commentId }),
  commentUpdate: ({ commentId }) => ({ id: commentId, body: 'Changed' }),
  issueBatchUpdate: ({ key }) => ({ keys: [key] }),
  issueCreate: () => ({ teamId: world.eng.id, title: 'New', deliveryId: world.eng.sprint1 }),
  issueDelete: ({ key }) => ({ key }),
  issueLinkDelete: ({ linkId }) => ({ id: linkId }),
  issueUpdate: ({ key }) => ({ key, title: 'Changed' }),
  webhookDelete: ({ webhookId }) => ({ id: webhookId }),
  webhookSecretRotate: ({ webhookId }) => ({ id: webhookId }),
  webhookUpdate: ({ webhookId }) => ({ id: webhookId, description: 'Changed' }),
};

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, args }) => {
  const input = getNamedType(args.find((argument) => argument.name === 'input')?.type);
  if (!isInputObjectType(input)) return [];
  return Object.values(input.getFields()).flatMap((field) =>
    isInteger(field) ? [[name, field.name, input.name] as const] : [],
  );
});

describe('a mutation with an integer at its extremes', () => {
  it.each(mutations)(
    '%s, %s: leaves an issue that every role can still use',
    async (name, field, inputType) => {
      const input = inputs[name];
      if (!input) throw new Error(`The test has no input of ${name}.`);
      const variants =
        name === 'agentMessageCreate' ? messageTypes.map((messageType) => ({ messageType })) : [{}];
      const senders = roles.flatMap((role) => variants.map((variant) => ({ role, variant })));
      for (const { role, variant } of sampled(senders, oneOf, () => name + field)) {
        const target = await newTarget();
        for (const value of extremes) {
          const query = `mutation ($input: ${inputType}!) { ${name}(input: $input) { __typename } }`;
          const sent = { ...input(target), ...variant, [field]: value };
          const { status, body } = await app.graphql(query, { input: sent }, { token: tokens[role] });
          expect([role, status, faults(body)]).toEqual([role, 200, []]);
          // After the last value in any case, because a refusal must not have stored anything either.
          const isTaken = !body.errors || value === extremes.at(-1);
          if (isTaken && !name.endsWith('Delete')) await goOn(target, role);
        }
      }
    },
  );
});

const routes = routeTable.flatMap((route) =>
  Object.entries(route.body?.fields ?? {}).flatMap(([name, field]) => {
    const schemaOf =
      field.kind === 'value' ? field.schema : field.kind === 'required' ? field.value.schema : {};
    return schemaOf.type === 'integer' ? [[`${route.method} ${route.path}`, name, route] as const] : [];
  }),
);

/** The other fields of the body of each endpoint with an integer. */
const bodies: Readonly<Record<string, () => Input>> = {
  'POST /v1/issues': () => ({ teamId: world.eng.id, title: 'New', deliveryId: world.eng.sprint1 }),
  'PATCH /v1/issues/{issueKey}': () => ({ title: 'Changed' }),
  'POST /v1/issues/{issueKey}/agent-thread/messages': () => ({ body: 'At an extreme' }),
  'POST /v1/issues/{issueKey}/attachments': () => ({ fileName: 'a.txt', contentType: 'text/plain' }),
};

describe('an endpoint with an integer at its extremes', () => {
  it.each(routes)('%s, %s: leaves an issue that every role can still use', async (name, field, route) => {
    const body = bodies[name];
    if (!body) throw new Error(`The test has no body of ${name}.`);
    for (const role of sampled(roles, oneOf, () => name + field)) {
      const target = await newIssue();
      for (const value of extremes) {
        const status = await send(route, target, { ...body(), [field]: value }, tokens[role]);
        expect([value, status < 500]).toEqual([value, true]);
        if (status < 300 || value === extremes.at(-1)) await goOn(target, role);
      }
    }
  });
});

describe('a message with the largest turn number', () => {
  it('is refused, and the thread remains usable', async () => {
    const { key } = await newIssue();
    const path = `/v1/issues/${key}/agent-thread/messages`;
    const post = (token: string, body: Input) =>
      app.request<{ turnNumber: number }>('POST', path, { token, body });
    expect((await post(tokens.member, { body: 'Please' })).status).toBe(201);
    const refused = await post(tokens.agent, { body: 'Done', turnNumber: 2_147_483_647 });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'validation_failed',
        errors: [{ field: 'turnNumber', message: 'must be at most 2, the next turn of the thread' }],
      },
    });
    expect((await post(tokens.agent, { body: 'Done' })).status).toBe(201);
    expect(await post(tokens.member, { body: 'Thanks' })).toMatchObject({
      status: 201,
      body: { turnNumber: 2 },
    });
  });
});

function isInteger({ type }: GraphQLInputField): boolean {
  return getNamedType(type) === GraphQLInt;
}

/** The errors of an answer that are internal. */
function faults({ errors = [] }: { errors?: readonly { message: string; extensions?: Input }[] }): string[] {
  return errors.flatMap(({ message, extensions }) =>
    ['INTERNAL_ERROR', 'UNAVAILABLE', undefined].includes(extensions?.code as string | undefined)
      ? [message]
      : [],
  );
}

/** Makes an issue. */
async function newIssue(): Promise<Pick<Target, 'id' | 'key'>> {
  const { body } = await app.graphql<Record<'made', { issue: { id: string; key: string } }>>(
    `mutation ($input: IssueCreateInput!) { made: issueCreate(input: $input) { issue { id key } } }`,
    {
      input: {
        teamId: world.eng.id,
        title: 'A target',
        deliveryId: world.eng.sprint1,
        projectId: world.apollo,
      },
    },
  );
  const issue = body.data?.made.issue;
  if (!issue) throw new Error(JSON.stringify(body.errors));
  return issue;
}

/** Makes an issue with a comment, a link and an attachment. */
async function newTarget(): Promise<Target> {
  const issue = await newIssue();
  const parts = await app.graphql<{
    comment: { comment: { id: string } };
    link: { issueLink: { id: string } };
    file: { attachment: { id: string } };
  }>(
    `mutation ($key: String!) {
      comment: commentCreate(input: { issueKey: $key, body: "A comment" }) { comment { id } }
      link: issueLinkCreate(input: { issueKey: $key, title: "A link", url: "https://example.com" }) { issueLink { id } }
      file: attachmentCreate(input: { issueKey: $key, fileName: "a.txt", contentType: "text/plain", sizeBytes: 1 }) {
        attachment { id }
      }
    }`,
    { key: issue.key },
  );
  if (!parts.body.data) throw new Error(JSON.stringify(parts.body.errors));
  const { comment, link, file } = parts.body.data;
  const { webhookId } = await storeWebhook(app.database.of(app.workspaceId), app.ownerUserAccountId);
  return {
    ...issue,
    commentId: comment.comment.id,
    linkId: link.issueLink.id,
    attachmentId: file.attachment.id,
    webhookId: encodeId('webhook', webhookId),
  };
}

const next = `mutation ($key: String!) {
  issueUpdate(input: { key: $key, title: "Next" }) { issue { revision } }
  commentCreate(input: { issueKey: $key, body: "Next" }) { comment { id } issue { commentCount } }
  agentMessageCreate(input: { issueKey: $key, body: "Next" }) { thread { currentTurnNumber lastCompletedTurnNumber messageCount } }
}`;
const everyNumber = `query ($key: String!, $delivery: ID!) {
  issue(key: $key) { number revision estimateValue commentCount subIssueCount linkCount
    agentThread { currentTurnNumber lastCompletedTurnNumber messageCount messages { nodes { turnNumber } } }
    activity(last: 250) { nodes { sortOrder } } }
  node(id: $delivery) { ... on Delivery { issueCount closedIssueCount estimatedScope closedEstimate } }
  issueStats(groupBy: []) { count estimateSum }
}`;

/** Lets other roles write to the issue: a person, the agent, and a person again, who starts the next turn. */
async function goOn({ key }: Pick<Target, 'key'>, role: Role): Promise<void> {
  const human = role === 'member' ? 'admin' : 'member';
  for (const other of [human, 'agent', 'owner'] as const) {
    const { body } = await app.graphql(next, { key }, { token: tokens[other] });
    expect([other, body.errors]).toEqual([other, undefined]);
  }
  const { body } = await app.graphql(everyNumber, { key, delivery: world.eng.sprint1 });
  expect(body.errors).toBeUndefined();
}

async function send(
  { method, path }: Route,
  { key }: Pick<Target, 'key'>,
  body: Input,
  token: string,
): Promise<number> {
  const { status } = await app.request(method, path.replace('{issueKey}', key), { token, body });
  return status;
}
