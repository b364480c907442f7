import { runImport } from '../../src/cli/import.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { importWorld } from '../cli/import-world.ts';
import { dataOf, type GraphAnswer } from '../graph/graph-answer.ts';
import { startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { Random } from '../support/random.ts';
import { type Every, type ModelIssue, randomIssue } from './trend-model.ts';

/** Issues with random histories. */
export const issues = Array.from({ length: 150 }, (_, index) => randomIssue(new Random(`history ${index}`)));
export const notDeleted = issues.filter(({ last }) => !last.deleted);

/** A server whose workspace has these issues. */
export interface TrendWorld {
  ask(query: string, variables: object): Promise<GraphAnswer>;
  answered<Data>(query: string, variables: object): Promise<Data>;
  /** Stops the server and returns the consistency rules that its database breaks. */
  stop(): Promise<object>;
}

export async function trendWorld(name: string): Promise<TrendWorld> {
  const app = await startApp({ sharesDatabase: true });
  const world = await importWorld(app.database, name);
  await applyDirectory(app.database, systemActor, parseDirectory(directory), {
    workspaceId: world.workspaceId,
  });
  const file = world.write('histories.ndjson', [header, ...issues.map(lineOf)]);
  const imported = await world.run((env) => runImport(env, { file, from: 'ndjson', workspace: name }));
  if (imported.exitCode !== 0 || imported.stderr.includes('warning')) throw new Error(imported.stderr);
  const owner = await app.database.unscoped
    .selectFrom('member')
    .select('userAccountId')
    .where('workspaceId', '=', world.workspaceId)
    .where('displayName', '=', 'Olive Owner')
    .executeTakeFirstOrThrow();
  const token = await app.tokenFor({
    ...owner,
    workspace: { workspaceId: world.workspaceId, ownerUserAccountId: owner.userAccountId, token: '' },
  });
  const ask: TrendWorld['ask'] = (query, variables) =>
    app.graphql(query, variables as Record<string, unknown>, { token });
  return {
    ask,
    answered: async <Data>(query: string, variables: object) => dataOf(await ask(query, variables)) as Data,
    stop: async () => {
      const broken = await brokenInvariants(app.database);
      world.remove();
      await app.stop();
      return broken;
    },
  };
}

const deliveries = [1, 2].map((number) => ({
  number,
  name: `Sprint ${number}`,
  startsOn: '2025-01-01',
  endsOn: '2025-01-14',
}));
const directory = {
  members: ['ENG', 'OPS'].map((code) => ({ displayName: `Member of ${code}` })),
  teams: ['ENG', 'OPS'].map((code) => ({ code, name: code, deliveries, members: [`Member of ${code}`] })),
  projectStatuses: [{ name: 'Active', state: 'active' }],
  projects: ['RED', 'BLUE'].map((key) => ({ key, team: 'ENG', name: key, status: 'Active' })),
};
const header = {
  _type: 'header',
  format: 'workgraph',
  version: 1,
  workspace: { id: 'x', name: 'Elsewhere' },
};

function lineOf(issue: ModelIssue, index: number): object {
  const { team, priority, labels, stages, createdMs, closedMs, last } = issue;
  return {
    _type: 'issue',
    key: `${team}-${index + 1}`,
    title: `Issue ${index}`,
    status: last.status,
    priority,
    labels,
    reporter: 'Olive Owner',
    delivery: last.delivery,
    project: last.project,
    estimateValue: last.estimate,
    createdUtc: new Date(createdMs),
    updatedUtc: new Date(last.ms),
    closedUtc: closedMs === null ? null : new Date(closedMs),
    ...(last.deleted && { deletedUtc: new Date(last.ms) }),
    stages: stages.map(({ ms, status, delivery, project, estimate, deleted }) => ({
      sinceUtc: new Date(ms),
      status,
      delivery,
      project,
      estimateValue: estimate,
      deleted,
    })),
  };
}

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Africa/Cairo',
];

export interface PeriodRequest {
  every: Every;
  from: string;
  to: string;
  timeZone: string;
}

export function randomPeriods(random: Random): PeriodRequest {
  const every = random.pick(['DAY', 'WEEK', 'MONTH'] as const);
  const day = () => new Date(random.integer(Date.UTC(2024, 8, 1), Date.UTC(2026, 0, 31)));
  const [from = '', to = ''] = [day(), day()].map((date) => date.toISOString().slice(0, 10)).toSorted();
  const nearer = new Date(Date.parse(from) + 390 * 86_400_000).toISOString().slice(0, 10);
  return { every, from, to: to < nearer ? to : nearer, timeZone: random.pick(zones) };
}

/** The variables that a trend query takes its periods from: their declarations, and the arguments they are passed as. */
export const periodVariables = '$every: TrendPeriodLength!, $from: Date!, $to: Date!, $timeZone: String!';
export const periodArguments = 'every: $every, from: $from, to: $to, timeZone: $timeZone';

/** One number for each random query. */
export const tries = Array.from({ length: 12 }, (_, index) => index);
