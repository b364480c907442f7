import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../support/random.ts';
import { Calendar, type categories, isClosed } from './trend-model.ts';
import {
  periodVariables,
  periodArguments,
  issues,
  notDeleted,
  randomPeriods,
  trendWorld,
  type TrendWorld,
  tries,
} from './trend-world.ts';

let world: TrendWorld;
beforeAll(async () => {
  world = await trendWorld('Flow');
});
afterAll(async () => {
  expect(await world.stop()).toEqual({});
});

describe('issueFlow', () => {
  it('counts issues by their category at the end of each period, in any time zone', async () => {
    const random = new Random('flow');
    const query = `query (${periodVariables}) { issueFlow(${periodArguments}) { historySinceUtc periods { startsOn backlog open active completed canceled } } }`;
    for (const _ of [...tries, ...tries]) {
      const requested = randomPeriods(random);
      const calendar = new Calendar(requested.timeZone, requested.every);
      const { issueFlow } = await world.answered<{ issueFlow: object }>(query, requested);
      const expected = calendar
        .periods(requested.from, requested.to)
        .map((startsOn) => flowAt(calendar, issues, startsOn));
      expect(issueFlow).toEqual({ historySinceUtc: null, periods: expected });
    }
  });

  it('counts the issues of some teams alone, with the same number of statements', async () => {
    const random = new Random('flow of teams');
    const query = `query (${periodVariables}, $team: TeamFilter) {
      issueFlow(${periodArguments}, team: $team) { periods { startsOn backlog open active completed canceled } } }`;
    const filters = [
      { team: { code: { eq: 'ENG' } }, codes: ['ENG'] },
      { team: { code: { in: ['OPS'] } }, codes: ['OPS'] },
      { team: { not: { code: { eq: 'ENG' } } }, codes: ['OPS'] },
      { team: { code: { eq: 'NONE' } }, codes: [] },
      { team: { code: { eq: null } }, codes: ['ENG', 'OPS'] },
      { team: { members: { some: { teams: { some: { code: { eq: 'ENG' } } } } } }, codes: ['ENG'] },
    ];
    for (const { team, codes } of filters.flatMap((filter) => [filter, filter])) {
      const requested = randomPeriods(random);
      const calendar = new Calendar(requested.timeZone, requested.every);
      const { issueFlow } = await world.answered<{ issueFlow: object }>(query, { ...requested, team });
      const ofTeams = issues.filter((issue) => codes.includes(issue.team));
      const expected = calendar
        .periods(requested.from, requested.to)
        .map((startsOn) => flowAt(calendar, ofTeams, startsOn));
      expect(issueFlow).toEqual({ periods: expected });
    }
    const requested = { ...randomPeriods(random), team: { code: { eq: 'ENG' } } };
    await world.ask(query, requested);
    const { statements } = await world.ask(query, requested);
    expect(statements).toBe((await world.ask(query, { ...requested, team: null })).statements);
  });

  it('names the argument in a refusal', async () => {
    const query = `query (${periodVariables}, $team: TeamFilter) { issueFlow(${periodArguments}, team: $team) { periods { open } } }`;
    const requested = { ...randomPeriods(new Random('refused')), team: { id: { eq: 'issue_1' } } };
    expect(JSON.stringify(await world.ask(query, requested))).toContain('team.id');
  });

  it('ends with the current period', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const query = `query (${periodVariables}) { issueFlow(${periodArguments}) { periods { startsOn completed } } }`;
    const requested = { every: 'DAY', from: '2026-01-01', to: tomorrow, timeZone: 'UTC' };
    const from = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
    const { issueFlow } = await world.answered<{ issueFlow: { periods: object[] } }>(query, {
      ...requested,
      from,
    });
    expect(issueFlow.periods).toHaveLength(6);
    const completed = notDeleted.filter(({ last }) => last.status === 'Done').length;
    expect(issueFlow.periods.at(-1)).toMatchObject({ completed });
  });
});

/** The numbers that the flow of these issues should have for the period that begins on a day. */
function flowAt(calendar: Calendar, some: typeof issues, startsOn: string): object {
  const stages = some.flatMap((issue) => calendar.stageAt(issue, startsOn) ?? []);
  const count = (name: keyof typeof categories) =>
    stages.filter(({ status, deleted }) => status === name && !deleted).length;
  return {
    startsOn,
    backlog: count('Backlog'),
    open: count('Todo'),
    active: count('In Progress'),
    completed: count('Done'),
    canceled: count('Canceled'),
  };
}

describe('burnups', () => {
  const days = 'days { onDate scope started done scopeEstimate startedEstimate doneEstimate }';
  const query = `query ($from: Date!, $to: Date!, $timeZone: String!) {
    teams { nodes { code deliveries { nodes { number burnup(from: $from, to: $to, timeZone: $timeZone) { ${days} } } } } }
    projects { nodes { key burnup(from: $from, to: $to, timeZone: $timeZone) { ${days} } } } }`;
  interface Shown {
    teams: {
      nodes: { code: string; deliveries: { nodes: { number: number; burnup: { days: object[] } }[] } }[];
    };
    projects: { nodes: { key: string; burnup: { days: object[] } }[] };
  }

  it('count all, started and completed issues at the end of each day, in any time zone', async () => {
    const random = new Random('burnups');
    for (const _ of tries) {
      const { from, to, timeZone } = randomPeriods(random);
      const calendar = new Calendar(timeZone, 'DAY');
      const { teams, projects } = await world.answered<Shown>(query, { from, to, timeZone });
      const shown = [
        ...projects.nodes.map(({ key, burnup }) => ({ name: key, burnup })),
        ...teams.nodes.flatMap(({ code, deliveries: { nodes } }) =>
          nodes.map(({ number, burnup }) => ({ name: `${code} ${number}`, burnup })),
        ),
      ];
      expect(shown.map(({ name }) => name).toSorted()).toEqual([
        'BLUE',
        'ENG 1',
        'ENG 2',
        'OPS 1',
        'OPS 2',
        'RED',
      ]);
      for (const { name, burnup } of shown)
        expect(burnup.days).toEqual(
          calendar.periods(from, to).map((day) => expectedDay(calendar, name, day)),
        );
    }
  });

  it('take one statement for all deliveries and one for all projects', async () => {
    const without = query.replaceAll(/burnup\(.+?\) \{ .+? \} \}/g, '');
    const requested = { from: '2025-01-01', to: '2025-12-31', timeZone: 'UTC' };
    const bare =
      'query { teams { nodes { code deliveries { nodes { number } } } } projects { nodes { key } } }';
    expect(without).not.toContain('burnup');
    await world.ask(query, requested);
    const { statements } = await world.ask(bare, {});
    expect((await world.ask(query, requested)).statements).toBe(statements + 2);
  });

  function expectedDay(calendar: Calendar, name: string, day: string): object {
    const stages = issues.flatMap((issue) => {
      const stage = calendar.stageAt(issue, day);
      if (!stage || stage.deleted) return [];
      if (stage.project === name) return stage.status === 'Canceled' ? [] : [stage];
      return `${issue.team} ${stage.delivery}` === name ? [stage] : [];
    });
    const started = stages.filter(({ status }) => status === 'In Progress');
    const done = stages.filter(isClosed);
    const sum = (some: typeof stages) => some.reduce((total, { estimate }) => total + (estimate ?? 0), 0);
    return {
      onDate: day,
      scope: stages.length,
      started: started.length,
      done: done.length,
      scopeEstimate: sum(stages),
      startedEstimate: sum(started),
      doneEstimate: sum(done),
    };
  }
});
