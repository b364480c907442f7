import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { memberRole } from '../../src/model/codes.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { readConfig } from '../../src/server/config.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import type { App } from '../support/app.ts';
import { generousAdmission } from '../support/generous-admission.ts';
import { httpClient } from '../support/http-client.ts';
import { readSubscription } from '../support/read-subscription.ts';
import type { Sample } from './positions.ts';
import { sampleRequest } from './rest-positions.ts';
import { cellsOf, entities, fieldsShowing, isShownBy, type RoleCell } from './role-cells.ts';
import { ownValues } from './trials.ts';
import { startTwins, type TwinWorlds } from './twin-worlds.ts';

// A token with all scopes, of each role, on every path to what only owners and admins may read. The paths follow from the schema.

type Role = keyof typeof memberRole;
type Client = Pick<App, 'graphql' | 'request' | 'url' | 'database'>;

const restricted = entities.filter(({ options }) => options.managersOnly !== undefined);
let twins: TwinWorlds;
let sample: Sample;
let cells = 0;
const servers: RunningServer[] = [];
const clients = new Map<string, Client>();
const tokens = new Map<Role, string>();

beforeAll(async () => {
  twins = await startTwins();
  sample = (naming) => ownValues(naming, twins)[0] ?? '';
  const { app, workspace } = twins.here;
  for (const role of Object.keys(memberRole) as Role[])
    tokens.set(role, await app.tokenFor({ role, workspace }));
  for (const EXECUTOR of ['compiled', 'graphql-js']) {
    const most = '1000000000';
    const limits = { REQUESTS_PER_MINUTE: most, COST_PER_HOUR: most, MAX_OPERATION_COST: most };
    const config = readConfig({ PORT: '0', DATA_DIR: app.dataDir, EXECUTOR, ...limits }, {});
    const server = await startServer({
      database: app.database,
      config: { ...config, admission: generousAdmission },
      logger: pino({ level: 'silent' }),
    });
    servers.push(server);
    clients.set(EXECUTOR, { ...httpClient(server.url, ''), url: server.url, database: app.database });
  }
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await twins.stop();
  console.info(`The matrix of roles: ${cells} cells.`);
});

it('only owners and admins read the audit log, webhooks and their deliveries', () => {
  const named = restricted.map(({ name, options }) => [name, options.managersOnly]);
  expect(Object.fromEntries(named)).toEqual({
    AuditEntry: 'the audit log',
    Webhook: 'webhooks',
    WebhookDelivery: 'webhooks',
  });
});

async function ask(client: Client, role: Role, { operation, query }: RoleCell) {
  const token = tokens.get(role) ?? '';
  return operation === 'subscription'
    ? await readSubscription(client, query, {}, { token })
    : await client.graphql(query, {}, { token });
}

describe.each(['compiled', 'graphql-js'])('on the %s executor', (executor) => {
  const client = () => {
    const found = clients.get(executor);
    if (!found) throw new Error(`No server has the ${executor} executor.`);
    return found;
  };

  describe.each(restricted)('$name', (entity) => {
    const what = entity.options.managersOnly;

    it.each<Role>(['member', 'guest'])('refuses a %s on every path, before any statement', async (role) => {
      const tried = cellsOf(entity, sample);
      expect(tried.length).toBeGreaterThan(20);
      for (const cell of tried) {
        cells += 1;
        const { body, statements } = await ask(client(), role, cell);
        const { data, errors = [] } = body;
        const does = cell.operation === 'mutation' ? 'manage' : 'read';
        expect([cell.at, data ?? null, statements, errors.map(seen)]).toEqual([
          cell.at,
          null,
          0,
          [['FORBIDDEN', `Only owners and admins may ${does} ${what}.`]],
        ]);
      }
    });

    it.each<Role>(['owner', 'admin'])('is read by an %s on every path', async (role) => {
      for (const cell of cellsOf(entity, sample).filter(({ operation }) => operation === 'query')) {
        cells += 1;
        const { body } = await ask(client(), role, cell);
        expect([cell.at, body.errors]).toEqual([cell.at, undefined]);
      }
    });
  });

  it.each<Role>(['member', 'guest'])('every route that shows such rows refuses a %s', async (role) => {
    const showing = routeTable.filter((route) =>
      restricted.some((entity) => isShownBy(route, fieldsShowing(entity))),
    );
    expect(showing.length).toBeGreaterThan(5);
    for (const route of showing) {
      cells += 1;
      const { path, body } = sampleRequest(route, sample);
      const answer = await client().request<{ code?: string }>(route.method, path, {
        token: tokens.get(role) ?? '',
        ...(body && { body }),
      });
      const name = `${route.method} ${route.path}`;
      expect([name, answer.status, answer.body.code, answer.statements]).toEqual([name, 403, 'forbidden', 0]);
    }
  });
});

function seen({ message, extensions }: { message: string; extensions?: Record<string, unknown> }): unknown[] {
  return [extensions?.code, message];
}
