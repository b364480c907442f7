import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { compileOperation } from '../../src/executor/compiled/compile/compile.ts';
import type { Frame } from '../../src/executor/compiled/run/frame.ts';
import {
  compileRowRenderer,
  type WriteRow,
  WrittenRows,
} from '../../src/executor/compiled/writing/row-renderer.ts';
import { WrittenResource } from '../../src/rest-compat/shape-writer.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { schema } from '../../src/schema/index.ts';
import { readConfig } from '../../src/server/config.ts';
import { openFiles } from '../../src/server/open-files.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { type App, startApp } from '../support/app.ts';
import { httpClient } from '../support/http-client.ts';

/** Routes whose reply does not consist of one selection of the operation. */
const valuePaths = ['/v1/meta/codes', '/v1/meta/errors/{code}'];

const withRowRenderer = routeTable.filter(
  ({ rowRenderer, path }) => rowRenderer && !valuePaths.includes(path),
);

it.each(withRowRenderer.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s is written by the compiled executor',
  (_name, { operation, fragments, rowRenderer }) => {
    const plan = compileOperation(schema, operation, fragments, {});
    expect(rowRenderer && compileRowRenderer(rowRenderer, plan)).toBeDefined();
  },
);

describe('the JSON of written resources', () => {
  type Resources = [WrittenResource, ...WrittenResource[]];
  const written = (...texts: string[]) => {
    const rows = new WrittenRows();
    const resources = texts.map((text) => {
      const write: WriteRow = (out, _frame, _row, piece) => {
        out.string(text);
        return new WrittenResource(piece, undefined);
      };
      return rows.add(write, {} as Frame, 0).value as WrittenResource;
    });
    rows.finish();
    return resources as Resources;
  };
  const framed = (resources: Resources, after = '>') =>
    String(WrittenResource.answer(resources, Buffer.from('<'), Buffer.from(after)).bytes);

  it('is one range with a frame around it if they were written in one turn', () => {
    expect(framed(written('a', 'b'))).toBe('<"a","b">');
    expect(String(WrittenResource.answer(written('c')).bytes)).toBe('"c"');
  });

  it('is concatenated in their order if they were written in different turns', () => {
    expect(framed([...written('a', 'b'), ...written('c'), ...written('d', 'e')])).toBe(
      '<"a","b","c","d","e">',
    );
  });

  it('is copied if they are not all of a turn, or if the frame is long', () => {
    const [first, second, third] = written('a', 'b', 'c') as [
      WrittenResource,
      WrittenResource,
      WrittenResource,
    ];
    expect(framed([first, second])).toBe('<"a","b">');
    expect(framed([third])).toBe('<"c">');
    expect(framed(written('a'), 'x'.repeat(5_000))).toBe(`<"a"${'x'.repeat(5_000)}`);
  });

  it('uses memory again once it has been released', () => {
    const { bytes, release } = WrittenResource.answer(written('x'.repeat(100_000)));
    release();
    expect(WrittenResource.answer(written('y'.repeat(100_000))).bytes.buffer).toBe(bytes.buffer);
  });
});

describe('the two executors', () => {
  const executors = ['compiled', 'graphql-js'] as const;
  let app: App;
  let servers: { server: RunningServer; request: App['request'] }[];
  const paths: string[] = [];

  beforeAll(async () => {
    app = await startApp({ demo: true });
    servers = await Promise.all(
      executors.map(async (executor) => {
        const settings = { PORT: '0', DATA_DIR: app.dataDir, EXECUTOR: executor, COST_PER_HOUR: '10000' };
        const config = readConfig({ ...settings, FILES_URL: 'http://files.test' }, {});
        const logger = pino({ level: 'silent' });
        const server = await startServer({
          database: app.database,
          config,
          logger,
          files: openFiles(config),
        });
        return { server, ...httpClient(server.url, app.token) };
      }),
    );
    paths.push(...(await demoPaths(app)));
  });
  afterAll(async () => {
    await Promise.all(servers.map(({ server }) => server.stop()));
    await app.stop();
  });

  it('return the same bytes, tags and links for every read, and charge the same cost', async () => {
    for (const path of paths) {
      const [compiled, graphqlJs] = await Promise.all(servers.map(({ request }) => request('GET', path)));
      expect({ path, ...shown(compiled) }).toEqual({ path, ...shown(graphqlJs), status: 200 });
      // Both quotas are refilled by one in 360 ms, so equal charges leave nearly the same remainder.
      expect(Math.abs(remaining(compiled) - remaining(graphqlJs))).toBeLessThanOrEqual(2);
    }
    expect(paths.length).toBeGreaterThan(25);
  });
});

function shown(answer: Awaited<ReturnType<App['request']>> | undefined) {
  return {
    status: answer?.status,
    tag: answer?.headers.get('etag'),
    link: answer?.headers.get('link')?.replaceAll(/:\d+\//g, '/'),
    body: JSON.stringify(answer?.body),
  };
}

/** The remaining cost quota; NaN if the answer does not report it. */
function remaining(answer: Awaited<ReturnType<App['request']>> | undefined): number {
  return Number(/"cost";r=(\d+)/.exec(answer?.headers.get('ratelimit') ?? '')?.[1]);
}

/** The paths of all reads of the table, for several issues, projects, teams and members, with several page sizes. */
async function demoPaths(app: App): Promise<string[]> {
  const { body } = await app.graphql<Demo>(`{
    issues(first: 250) { nodes { key agentThread { id } comments(first: 1) { nodes { id } }
      attachments(first: 1) { nodes { id } } } }
    teams(first: 3) { nodes { code } }
    projects(first: 3) { nodes { key } }
    members(first: 3) { nodes { id } }
  }`);
  const { issues, teams, projects, members } = body.data as Demo;
  const withMost = issues.nodes.toSorted((a, b) => richness(b) - richness(a)).slice(0, 3);
  const lists = ['issues', 'teams', 'projects', 'members'];
  const below = ['', '/comments', '/attachments', '/links', '/subissues', '/activity'];
  return [
    ...lists.flatMap((list) =>
      ['', '?page_size=2', '?page_size=100&direction=desc'].map((page) => `/v1/${list}${page}`),
    ),
    '/v1/issues?query=there-is-no-such-title',
    ...withMost.flatMap(({ key, comments, attachments, agentThread }) => [
      ...below.map((list) => `/v1/issues/${key}${list}`),
      ...comments.nodes.map(({ id }) => `/v1/issues/${key}/comments/${id}`),
      ...attachments.nodes.map(({ id }) => `/v1/issues/${key}/attachments/${id}`),
      ...(agentThread ? ['', '/messages'].map((list) => `/v1/issues/${key}/agent-thread${list}`) : []),
    ]),
    ...teams.nodes.flatMap(({ code }) => [`/v1/teams/${code}`, `/v1/teams/${code}/repositories`]),
    ...projects.nodes.flatMap(({ key }) => [`/v1/projects/${key}`, `/v1/projects/${key}/links`]),
    ...members.nodes.map(({ id }) => `/v1/members/${id}`),
  ];
}

interface Demo {
  issues: { nodes: DemoIssue[] };
  teams: { nodes: { code: string }[] };
  projects: { nodes: { key: string }[] };
  members: { nodes: { id: string }[] };
}
interface DemoIssue {
  key: string;
  agentThread: { id: string } | null;
  comments: { nodes: { id: string }[] };
  attachments: { nodes: { id: string }[] };
}

function richness({ agentThread, comments, attachments }: DemoIssue): number {
  return (agentThread ? 1 : 0) + comments.nodes.length + attachments.nodes.length;
}
