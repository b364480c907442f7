import { Client } from '../support/client.ts';
import { ms } from '../support/fault.ts';
import { costOf, type Figure, graphql, memoryDuring, outcome, stallDuring, type Target } from './target.ts';

/** How long one request may block the event loop, on an otherwise idle machine. */
const stallBoundMs = 100;
const aliases = 190;

const filtered = 'query ($f: IssueFilter) { issues(first: 1, filter: $f) { nodes { key } } }';
const manyFiltered = `query ($f: IssueFilter) { ${named((n) => `a${n}: issues(first: 1, filter: $f) { nodes { key } }`)} }`;

/** Finding 1: filters with empty parts. */
export async function emptyFilterParts(target: Target): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [query, parts] of [
    [filtered, 49_000],
    [filtered, 320_000],
    [manyFiltered, 49_000],
  ] as const) {
    const variables = { f: { or: Array.from({ length: parts }, () => ({})) } };
    const { result, stallMs } = await stallDuring(target, () => graphql(target, { query, variables }));
    const where = query === filtered ? '' : ` under ${aliases} aliases`;
    figures.push({
      what: `1. ${parts.toLocaleString('en')} empty filter parts${where}`,
      measured: `${outcome(result)} in ${ms(result.ms)}, event loop blocked ${ms(stallMs)}`,
      holds: result.status < 500 && stallMs <= stallBoundMs,
    });
  }
  return figures;
}

/** Finding 2: repeated introspection without a token. */
export async function introspection(target: Target): Promise<Figure[]> {
  const query = `{ ${named((n) => `a${n}: __schema { types { fields { description } } }`)} }`;
  const { result, stallMs } = await stallDuring(target, () =>
    graphql(target, { query }, { anonymous: true }),
  );
  const cost = costOf(result);
  return [
    {
      what: `2. introspection under ${aliases} aliases, without a token`,
      measured: `${outcome(result)}, ${result.body.length.toLocaleString('en')} bytes, ${costWords(cost)}, event loop blocked ${ms(stallMs)}`,
      holds: isPaid(cost) && stallMs <= stallBoundMs,
    },
  ];
}

/** Finding 3: the largest number of groups, with connections under each. */
export async function statsGroups(target: Target): Promise<Figure[]> {
  const query = `{ issueStats(groupBy: [STATUS, PRIORITY, ASSIGNEE]) {
    count team { code } assignee { teams(first: 3) { nodes { code projects(first: 100) { nodes { key } } } } } } }`;
  const { result, stallMs } = await stallDuring(target, () => graphql(target, { query }));
  const cost = costOf(result);
  return [
    {
      what: '3. issueStats by three columns, connections under each group',
      measured: `${outcome(result)}, ${costWords(cost)}, event loop blocked ${ms(stallMs)}`,
      holds: isPaid(cost) && stallMs <= stallBoundMs,
    },
  ];
}

const longIssues = 120;
const pages = 39;

/** Not one of the findings, but of the same class: long descriptions, selected again and again under aliases. */
export async function longTexts(target: Target): Promise<Figure[]> {
  const client = new Client(target.service.url, target.token, 4);
  const teams = await client.send({ path: '/v1/teams?page_size=1' });
  const teamId = /"id":"(team_[^"]+)"/.exec(teams.body)?.[1];
  const issue = { teamId, title: 'Long', priority: 0, description: 'x"é'.repeat(33_000) };
  await Promise.all(
    Array.from({ length: longIssues }, () =>
      client.send({ method: 'POST', path: '/v1/issues', body: issue }),
    ),
  );
  client.close();
  const page = (n: number) => `a${n}: issues(first: 250) { nodes { description } }`;
  const query = `{ ${Array.from({ length: pages }, (_, n) => page(n)).join(' ')} }`;
  const { result, beforeMb, maxMb } = await memoryDuring(target, () =>
    stallDuring(target, () => graphql(target, { query })),
  );
  const { result: answer, stallMs } = result;
  return [
    {
      what: `8. ${longIssues} issues of 100 KB under ${pages} aliases`,
      measured: `${outcome(answer)}, ${answer.body.length.toLocaleString('en')} characters, event loop blocked ${ms(stallMs)}, memory ${beforeMb} → ${maxMb} MB`,
      holds: stallMs <= stallBoundMs && maxMb - beforeMb <= 250,
    },
  ];
}

/** Fields of the schema that are null for nearly all types, so that they return no objects. */
export async function nullsOfSchema(target: Target): Promise<Figure[]> {
  const fields = Array.from({ length: 800 }, (_, n) => `a${n}: inputFields { name }`).join(' ');
  const query = `{ __schema { types { fields { type { ${fields} } } } } }`;
  const { result, stallMs } = await stallDuring(target, () =>
    graphql(target, { query }, { anonymous: true }),
  );
  return [
    {
      what: '9. 800 fields of the schema that are null, without a token',
      measured: `${outcome(result)}, ${result.body.length.toLocaleString('en')} bytes, event loop blocked ${ms(stallMs)}`,
      holds: result.status < 500 && stallMs <= stallBoundMs,
    },
  ];
}

const longNames = 600;

/** Queries of the schema with long variables, whose answers are short, but cached. */
export async function longVariables(target: Target): Promise<Figure[]> {
  const query = 'query ($name: String!) { __type(name: $name) { name } }';
  let good = 0;
  const { beforeMb, maxMb } = await memoryDuring(target, async () => {
    for (let n = 0; n < longNames; n += 1) {
      const variables = { name: String(n).padStart(900_000, 'x') };
      const { status } = await graphql(target, { query, variables }, { anonymous: true }).catch(() => ({
        status: 0,
      }));
      if (status === 200) good += 1;
    }
  });
  return [
    {
      what: `10. ${longNames} queries of the schema with variables of 900 kB, without a token`,
      measured: `${good} answered, memory ${beforeMb} → ${maxMb} MB`,
      holds: good === longNames,
    },
  ];
}

function costWords(cost: ReturnType<typeof costOf>): string {
  return cost ? `requested ${cost.requested}, actual ${cost.actual}` : 'refused before it ran';
}

function isPaid(cost: ReturnType<typeof costOf>): boolean {
  return cost === undefined || cost.actual <= cost.requested;
}

function named(field: (n: number) => string): string {
  return Array.from({ length: aliases }, (_, n) => field(n)).join(' ');
}
