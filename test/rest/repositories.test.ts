import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fold } from '../../src/model/fold.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';
import { differences } from './specified-fields.ts';
import { type ListBody, walk } from './walk.ts';

/** Name, project, branch, provider, and whether it is the default. There are ties in every order. */
const rows = [
  ['web', 'Shop', 'main', 1, false],
  ['API', 'Shop', 'main', 2, true],
  ['Ätna_100%', 'volcano', 'trunk', 1, false],
  ['web', 'Shop', 'develop', 2, false],
] as const;

interface Repository {
  id: string;
  name: string;
  project: string;
  branch: string;
  provider: number;
}

let app: App;
const repositories: Repository[] = [];
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  const { id: teamId } = await team(app.database, app.workspaceId, { code: 'ENG' });
  await team(app.database, app.workspaceId, { code: 'OPS' });
  for (const [index, [name, project, branch, provider, isDefaultForAgents]] of rows.entries()) {
    const id = newUuid(Date.UTC(2026, 0, 1, index));
    await app.database.unscoped
      .insertInto('repository')
      .values({
        workspaceId: app.workspaceId,
        id,
        teamId,
        provider,
        externalProjectName: project,
        externalProjectNameFold: fold(project),
        externalRepositoryName: name,
        externalRepositoryNameFold: fold(name),
        externalRepositoryFullName: `acme/${name}`,
        defaultBranch: branch,
        defaultBranchFold: fold(branch),
        isDefaultForAgents,
      })
      .execute();
    repositories.push({ id: encodeId('repo', id), name, project, branch, provider });
  }
});
afterAll(() => app.stop());

const path = '/v1/teams/eng/repositories';
const idsOf = ({ body }: { body: ListBody }) => body.results.map(({ id }) => id);
const sorts: Readonly<Record<string, (row: Repository) => string | number>> = {
  repository_name: ({ name }) => fold(name),
  provider: ({ provider }) => provider,
  project_name: ({ project }) => fold(project),
  default_branch: ({ branch }) => fold(branch),
};

describe('GET /v1/teams/{teamCode}/repositories', () => {
  const directions = ['asc', 'ascending', 'desc', 'descending'];
  it.each(Object.keys(sorts).flatMap((sort) => directions.map((direction) => [sort, direction] as const)))(
    'walks by %s %s, ties by id',
    async (sort, direction) => {
      const keyOf = sorts[sort] ?? (() => 0);
      const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
      const sign = direction.startsWith('asc') ? 1 : -1;
      const sorted = repositories.toSorted(
        (a, b) => sign * (compare(keyOf(a), keyOf(b)) || compare(a.id, b.id)),
      );
      const pages = await walk(app, `${path}?sort=${sort}&direction=${direction}&page_size=3`);
      expect(pages.flatMap(idsOf)).toEqual(sorted.map(({ id }) => id));
    },
  );

  it.each([
    ['', [1, 2, 0, 3]],
    ['provider=github', [2, 0]],
    ['provider=azuredevops', [1, 3]],
    ['provider=azure-devops', [1, 3]],
    ['provider=azure_devops&provider=github', [1, 2, 0, 3]],
    ['is_default=true', [1]],
    ['is_default=false', [2, 0, 3]],
    ['query=WEB', [0, 3]],
    ['query=shop', [1, 0, 3]],
    ['query=atna', [2]],
    ['query=%25', [2]],
    ['query=_', [2]],
    ['query=acme', []],
    ['query=shop&provider=github', [0]],
  ])('%j lets through %j', async (query, indexes) => {
    const answer = await app.request<ListBody>('GET', `${path}?${query}`);
    for (const result of answer.body.results) expect(differences(result, 'Repository context')).toEqual([]);
    // Two are called "web"; their ids are in this order.
    expect(idsOf(answer)).toEqual(indexes.map((index) => repositories[index]?.id));
  });

  it.each([
    ['provider', 'provider=azure', 'must be one of github, azuredevops, azure-devops, azure_devops'],
    [
      'provider',
      'provider=gitub',
      'must be one of github, azuredevops, azure-devops, azure_devops; did you mean github?',
    ],
    ['is_default', 'is_default=maybe', 'must be true or false'],
    ['sort', 'sort=name', 'must be one of repository_name, provider, project_name, default_branch'],
  ])('refuses a bad %s: %s', async (field, query, message) => {
    expect(await app.request('GET', `${path}?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ field, message }] },
    });
  });

  it('returns the default repository, or an answer that says the team has none', async () => {
    const answer = await app.request<Record<string, unknown>>('GET', `${path}/default`);
    expect(differences(answer.body, 'Repository context')).toEqual([]);
    expect(answer.body).toMatchObject({ id: repositories[1]?.id, isDefaultForAgents: true, provider: 2 });
    for (const code of ['OPS', 'NOPE'])
      expect(await app.request('GET', `/v1/teams/${code}/repositories/default`)).toMatchObject({
        status: 404,
        body: { code: 'not_found', detail: 'There is no such team, or it has no default repository.' },
      });
    expect((await app.request('GET', '/v1/teams/NOPE/repositories')).status).toBe(404);
  });
});

describe('GET /v1/meta', () => {
  it('publishes the codes without a token', async () => {
    const { status, body } = await app.request<{
      tables: { name: string; entries: { code: number | null }[] }[];
    }>('GET', '/v1/meta/codes', { token: null });
    expect(status).toBe(200);
    const priority = body.tables.find(({ name }) => name === 'priority');
    expect(priority?.entries[1]).toEqual({ name: 'urgent', code: 1, description: '' });
    const named = body.tables.filter(({ entries }) => entries.every((entry) => entry.code === null));
    expect(named.map(({ name }) => name)).toEqual([
      'statusCategory',
      'deliveryState',
      'projectState',
      'teamState',
      'changeOrigin',
      'webhookState',
      'webhookDeliveryState',
      'eventType',
    ]);
  });

  it.each(['not_found', 'NOT_FOUND'])('says what %s means', async (code) => {
    expect(await app.request('GET', `/v1/meta/errors/${code}`, { token: null })).toMatchObject({
      status: 200,
      body: { code: 'not_found', status: 404, description: expect.stringMatching(/\.$/) },
    });
  });

  it.each(['nope', 'not-found', '404', 'priority'])('knows no error %s', async (code) => {
    expect(await app.request('GET', `/v1/meta/errors/${code}`, { token: null })).toMatchObject({
      status: 404,
      body: { detail: 'There is no such error code.' },
    });
  });
});
