import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { openDatabase } from '../../src/db/engine/engine.ts';
import type { WireName } from '../../src/db/wire/postgres-wire.ts';
import { readConfig } from '../../src/server/config.ts';
import { startServer } from '../../src/server/server.ts';
import { type Answer, type App, startApp } from '../support/app.ts';
import { httpClient } from '../support/http-client.ts';
import { generousAdmission } from '../support/generous-admission.ts';
import { hasServer, urlOf } from './engines.ts';

type Server = Pick<App, 'graphql' | 'request'> & { stop(): Promise<void> };

const queries = join(import.meta.dirname, '../../docs/queries');
const query = (name: string) => readFileSync(join(queries, `${name}.graphql`), 'utf8');

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('the plain wire and the fast one (needs TEST_DATABASE_URL)', () => {
  let app: App;
  let fast: Server;
  let plain: Server;

  beforeAll(async () => {
    app = await startApp({ demo: true });
    fast = await startOn('fast');
    plain = await startOn('plain');
  });
  afterAll(async () => {
    await plain.stop();
    await fast.stop();
    await app.stop();
  });

  /** Starts another server on the database of the app. */
  async function startOn(wire: WireName): Promise<Server> {
    const database = await openDatabase({ url: await urlOf(app.database), wire });
    const config = { ...readConfig({ PORT: '0' }, {}), admission: generousAdmission };
    const server = await startServer({ database, config, logger: pino({ level: 'silent' }) });
    return {
      ...httpClient(server.url, app.token),
      stop: async () => {
        await server.stop();
        await database.close();
      },
    };
  }

  /** Sends a request to both servers and compares. Repeats it, because first runs of a statement differ from later ones. */
  async function expectSame(ask: (server: Server) => Promise<Answer<unknown>>): Promise<Answer<unknown>> {
    const [first] = await Promise.all([ask(fast), ask(plain)]);
    for (let time = 0; time < 3; time += 1) {
      const [byFast, byPlain] = await Promise.all([ask(fast), ask(plain)]);
      expect(byPlain.status).toBe(byFast.status);
      expect(byPlain.body).toEqual({ ...(byFast.body as object), ...requestIdOf(byPlain) });
      expect(byPlain.statements).toBe(byFast.statements);
      expect(byPlain.headers.get('etag')).toBe(byFast.headers.get('etag'));
    }
    return first;
  }

  /** The id of the request, which problem documents contain: the only thing in which two answers may differ. */
  function requestIdOf({ body }: Answer<unknown>): object {
    const { requestId } = body as { requestId?: string };
    return requestId === undefined ? {} : { requestId };
  }

  it.each(['dashboard', 'issue', 'search', 'triage', 'roadmap'])(
    'answer docs/queries/%s alike',
    async (name) => {
      const { body } = await expectSame((server) => server.graphql(query(name)));
      expect(body).toMatchObject({ data: expect.any(Object) });
      expect(body).not.toHaveProperty('errors');
    },
  );

  it.each([
    ['/v1/issues?page_size=50', 200],
    ['/v1/issues/PLT-3', 200],
    ['/v1/issues/PLT-3/comments', 200],
    ['/v1/issues/PLT-3/activity', 200],
    ['/v1/issues/PLT-99999', 404],
    ['/v1/issues?team_id=nonsense', 400],
  ])('answer GET %s alike', async (path, status) => {
    const answer = await expectSame((server) => server.request('GET', path));
    expect(answer.status).toBe(status);
  });

  it('write the same fields, and refuse the same values', async () => {
    for (const [number, server] of [fast, plain, fast, plain].entries()) {
      const written = await server.graphql<{ issueUpdate: unknown }>(
        `mutation ($title: String!) {
          issueUpdate(input: { key: "PLT-3", title: $title, estimateValue: 5, dueDate: "2030-02-28" }) {
            issue { key title estimateValue dueDate labels { name } assignees { displayName } }
          }
        }`,
        { title: `Naïve “${number}” 😀` },
      );
      expect(written.body).not.toHaveProperty('errors');
      await expectSame((each) => each.graphql(query('issue')));
    }
    await expectSame((server) =>
      server.request('PATCH', '/v1/issues/PLT-3', { body: { title: '', priority: 77 } }),
    );
  });

  it("show each other's new comments alike", async () => {
    for (const server of [fast, plain]) {
      const { body } = await server.graphql(
        'mutation { commentCreate(input: { issueKey: "PLT-3", body: "Seen." }) { comment { issue { key } } } }',
      );
      expect(body).toEqual({ data: { commentCreate: { comment: { issue: { key: 'PLT-3' } } } } });
      await expectSame((each) => each.request('GET', '/v1/issues/PLT-3/comments'));
    }
  });
});
