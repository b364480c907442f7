import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../support/random.ts';
import { Calendar, categories, isClosed, type ModelIssue, percentile } from './trend-model.ts';
import {
  type PeriodRequest,
  periodVariables,
  periodArguments,
  notDeleted,
  randomPeriods,
  trendWorld,
  type TrendWorld,
  tries,
} from './trend-world.ts';

let world: TrendWorld;
beforeAll(async () => {
  world = await trendWorld('Trends');
});
afterAll(async () => {
  expect(await world.stop()).toEqual({});
});

const groups: Readonly<Record<string, (issue: ModelIssue) => readonly unknown[]>> = {
  STATUS_CATEGORY: ({ last }) => [categories[last.status]],
  TEAM: ({ team }) => [team],
  PROJECT: ({ last }) => [last.project],
  DELIVERY: ({ team, last }) => [last.delivery && `${team} ${last.delivery}`],
  PRIORITY: ({ priority }) => [priority.toUpperCase()],
  LABEL: ({ team, labels }) => (labels.length > 0 ? labels.map((label) => `${team} ${label}`) : [null]),
};
const filters: readonly [object, (issue: ModelIssue) => boolean][] = [
  [{}, () => true],
  [{ team: { code: { eq: 'ENG' } } }, ({ team }) => team === 'ENG'],
  [{ estimateValue: { gte: 1 } }, ({ last }) => (last.estimate ?? 0) >= 1],
  [
    { or: [{ priority: { eq: 'URGENT' } }, { project: { key: { eq: 'RED' } } }] },
    ({ priority, last }) => priority === 'urgent' || last.project === 'RED',
  ],
  [{ status: { isTerminal: { eq: true } }, labels: { some: { name: { eq: 'Bug' } } } }, isClosedBug],
];

function isClosedBug({ last, labels }: ModelIssue): boolean {
  return isClosed(last) && labels.includes('Bug');
}

interface Shown extends Record<'created' | 'started' | 'closed', number> {
  startsOn: string;
  statusCategory: string | null;
  team: { code: string } | null;
  project: { key: string } | null;
  delivery: { number: number; team: { code: string } } | null;
  priority: string | null;
  label: { name: string; team: { code: string } } | null;
  createdEstimate: number;
  startedEstimate: number;
  closedEstimate: number;
  cycleTime: object;
  leadTime: object;
}

const trend = `query (${periodVariables}, $by: [IssueStatsGroup!]!, $filter: IssueFilter, $first: Int) {
  issueTrend(${periodArguments}, groupBy: $by, filter: $filter, first: $first) { historySinceUtc periods {
    startsOn statusCategory team { code } project { key } delivery { number team { code } } priority label { name team { code } }
    created started closed createdEstimate startedEstimate closedEstimate
    cycleTime { median p85 p95 } leadTime { median p85 p95 }
  } } }`;

async function trendOf(variables: object): Promise<Shown[]> {
  const { issueTrend } = await world.answered<{ issueTrend: { periods: Shown[]; historySinceUtc: null } }>(
    trend,
    variables,
  );
  expect(issueTrend.historySinceUtc).toBeNull();
  return issueTrend.periods;
}

const shownGroup: Readonly<Record<string, (shown: Shown) => unknown>> = {
  STATUS_CATEGORY: ({ statusCategory }) => statusCategory,
  TEAM: ({ team }) => team?.code,
  PROJECT: ({ project }) => project && project.key,
  DELIVERY: ({ delivery }) => delivery && `${delivery.team.code} ${delivery.number}`,
  PRIORITY: ({ priority }) => priority,
  LABEL: ({ label }) => label && `${label.team.code} ${label.name}`,
};

/** A row as a text, so that rows can be sorted and compared. */
function rowText(startsOn: string, group: readonly unknown[], row: object): string {
  return JSON.stringify([startsOn, group, row]);
}

function shownText(shown: Shown, by: readonly string[]): string {
  const { created, started, closed, createdEstimate, startedEstimate, closedEstimate } = shown;
  const { startsOn, cycleTime, leadTime } = shown;
  const counts = { created, started, closed, createdEstimate, startedEstimate, closedEstimate };
  return rowText(startsOn, groupOf(shown, by), { ...counts, cycleTime, leadTime });
}

function groupOf(shown: Shown, by: readonly string[]): unknown[] {
  return by.map((name) => shownGroup[name]?.(shown));
}

function expectedTrend(
  requested: PeriodRequest,
  by: readonly string[],
  counts: (issue: ModelIssue) => boolean,
): string[] {
  const calendar = new Calendar(requested.timeZone, requested.every);
  const periods = calendar.periods(requested.from, requested.to);
  const members = new Map<string, ModelIssue[]>();
  for (const issue of notDeleted.filter(counts)) {
    const keys = by.reduce<unknown[][]>(
      (all, name) => all.flatMap((key) => (groups[name]?.(issue) ?? []).map((value) => [...key, value])),
      [[]],
    );
    for (const key of keys) {
      const text = JSON.stringify(key);
      members.set(text, [...(members.get(text) ?? []), issue]);
    }
  }
  if (by.length === 0 && members.size === 0) members.set('[]', []);
  return [...members].flatMap(([key, all]) => {
    const rows = periods.map((period) => periodRow(calendar, period, all));
    const busy = rows.some(({ created, started, closed }) => created + started + closed > 0);
    if (by.length > 0 && !busy) return [];
    return rows.map((row, index) => rowText(periods[index] ?? '', JSON.parse(key) as unknown[], row));
  });
}

function periodRow(calendar: Calendar, period: string, all: readonly ModelIssue[]) {
  const isIn = (ms: number | null) => ms !== null && calendar.periodOf(calendar.dateOf(ms)) === period;
  const created = all.filter(({ createdMs }) => isIn(createdMs));
  const started = all.filter(({ startedMs }) => isIn(startedMs));
  const closed = all.filter(({ closedMs }) => isIn(closedMs));
  const sum = (some: readonly ModelIssue[]) =>
    some.reduce((total, { last }) => total + (last.estimate ?? 0), 0);
  const percentiles = (since: 'createdMs' | 'startedMs') => {
    const seconds = closed.flatMap(({ [since]: from, closedMs }) =>
      from === null ? [] : [Math.max(Math.floor((Number(closedMs) - from) / 1_000), 0)],
    );
    return {
      median: percentile(seconds, 0.5),
      p85: percentile(seconds, 0.85),
      p95: percentile(seconds, 0.95),
    };
  };
  return {
    created: created.length,
    started: started.length,
    closed: closed.length,
    createdEstimate: sum(created),
    startedEstimate: sum(started),
    closedEstimate: sum(closed),
    cycleTime: percentiles('startedMs'),
    leadTime: percentiles('createdMs'),
  };
}

describe('issueTrend', () => {
  it.each([
    [[]],
    [['TEAM']],
    [['LABEL']],
    [['PROJECT', 'STATUS_CATEGORY']],
    [['DELIVERY']],
    [['PRIORITY', 'LABEL', 'TEAM']],
  ])('by %j says what the histories say, in any time zone', async (by: string[]) => {
    const random = new Random(`trend by ${by.join(' ')}`);
    for (const _ of tries) {
      const requested = randomPeriods(random);
      // Groups by day would exceed the cost limit.
      if (by.length > 0 && requested.every === 'DAY') requested.every = 'WEEK';
      const [filter, counts] = random.pick(filters);
      const shown = await trendOf({ ...requested, by, filter, first: 45 });
      const texts = shown.map((row) => shownText(row, by));
      expect(texts.toSorted()).toEqual(expectedTrend(requested, by, counts).toSorted());
    }
  });

  it('lists the largest groups of each period first', async () => {
    const requested = {
      every: 'MONTH',
      from: '2025-01-01',
      to: '2025-12-31',
      timeZone: 'UTC',
      by: ['TEAM', 'PRIORITY'],
    };
    const all = await trendOf({ ...requested, first: 20 });
    const of = (row: Shown) => JSON.stringify(groupOf(row, requested.by));
    const totals = new Map<string, number>();
    for (const row of all)
      totals.set(of(row), (totals.get(of(row)) ?? 0) + row.created + row.started + row.closed);
    expect(totals.size).toBe(6);
    expect([...totals.values()]).toEqual([...totals.values()].toSorted((one, other) => other - one));
    const few = await trendOf({ ...requested, first: 2 });
    expect(few).toEqual(all.filter((row) => [...totals.keys()].indexOf(of(row)) < 2));
  });
});
