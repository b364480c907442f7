import { print } from 'graphql';
import type pg from 'pg';
import { encodeId } from '../../src/resolvers/ids.ts';
import type { Parameters } from '../../src/rest-compat/params.ts';
import { issues } from '../../src/rest-compat/routes/issue-reads.ts';
import type { NamedKind } from '../../src/schema/builder/naming.ts';
import { type JudgedRead, judgeReads, pageSize } from './judge.ts';
import { comparison, type CheckLane, type ListPage } from './pages.ts';
import type { ListFacts } from './schema-facts.ts';

/** A query of `GET /v1/issues` that filters by one parameter. */
export interface RestQuery {
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
}

type Parameter = Parameters[string];

/** The parameters of pages, which choose no issues. */
const ofPages = new Set(['cursor', 'page_size', 'sort', 'direction', 'If-None-Match']);

/** Queries for each parameter of the list of issues, with frequent and rare values. Throws for a parameter without values. */
export async function restQueries(client: pg.Client): Promise<RestQuery[]> {
  const queries: RestQuery[] = [{ name: 'no parameter', query: {} }];
  for (const [name, parameter] of Object.entries(issues.parameters)) {
    if (ofPages.has(name)) continue;
    const values = await valuesOf(client, name, parameter);
    if (values.length === 0)
      throw new Error(`The parameter ${name} of /v1/issues has no values in the data.`);
    queries.push(
      ...values.map((value, index) => ({ name: `${name} ${index + 1}`, query: { [name]: value } })),
    );
  }
  return queries;
}

/** Judges the first pages of a query in every order, or one of so many. */
export async function checkRest(
  { gate, oracle }: CheckLane,
  { list }: ListFacts,
  { name, query }: RestQuery,
  { budget, oneOf }: { budget: number; oneOf: number },
): Promise<JudgedRead[]> {
  const judged: JudgedRead[] = [];
  const document = print(issues.document);
  const orders = valuesInSchema(issues.parameters['sort']).flatMap((sort) =>
    ['asc', 'desc'].map((direction) => ({ sort, direction })),
  );
  let isMatched = false;
  for (const [index, order] of orders.entries()) {
    if ((index + name.length) % oneOf !== 0) continue;
    const sent = new URLSearchParams({ ...query, ...order, page_size: String(pageSize) });
    const verdict = issues.check({ path: {}, query: sent, body: undefined });
    if (verdict.verdict !== 'ready') throw new Error(`/v1/issues?${sent.toString()} is ${verdict.verdict}.`);
    const { variables } = verdict;
    const coerced = gate.coerced(document, variables)['filter'] as Record<string, unknown>;
    if (!isMatched) await oracle.match(gate.workspaceId, list, coerced);
    isMatched = true;
    const orderBy = variables['orderBy'] as { field: string; direction: 'ASC' | 'DESC' };
    const { first: expected } = await oracle.sequence(list, coerced, orderBy, pageSize);
    const { data, statements } = await gate.execute(document, variables, { isGeneric: index % 2 === 1 });
    // The page, its total, and two statements for what each of its issues shows besides.
    const most = { budget: 2 * budget, parents: 1, size: pageSize, statements: 5 + 4 + 2 };
    const reads = judgeReads(statements, most);
    const answer = comparison(data['issues'] as ListPage, { args: {}, expected });
    judged.push({
      ...reads,
      name: `/v1/issues ${name}, ${order.sort} ${order.direction}`,
      isShort: answer.isShort,
      problems: [...reads.problems, ...answer.problems],
    });
  }
  return judged;
}

async function valuesOf(client: pg.Client, name: string, parameter: Parameter): Promise<string[]> {
  if (!parameter) return [];
  const { schema } = parameter;
  const listed = valuesInSchema(parameter);
  if (listed.length > 0) return [...listed];
  if (schema.type === 'boolean') return ['true', 'false'];
  const [, column = ''] = /^(.+?)_(?:from|to)(?:_utc)?$/.exec(name) ?? [];
  if (name.endsWith('_utc'))
    return ranks(client, `${column}_utc`, `to_char(v at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
  if (column !== '') return ranks(client, `${column}_date`, 'v::text');
  switch (name) {
    case 'query':
      return ['the', 'reviewer noticed', 'no such thing'];
    case 'team_code':
      return keys(
        client,
        'issue i join team k on k.workspace_id = i.workspace_id and k.id = i.team_id',
        'k.code',
      );
    case 'project_key':
      return keys(
        client,
        'issue i join project k on k.workspace_id = i.workspace_id and k.id = i.project_id',
        'k.key',
      );
    case 'label_id':
      return ids(await keys(client, 'issue_label', 'label_id'), 'label');
    case 'assignee_user_account_id':
      return ids(await keys(client, 'issue_assignee', 'user_account_id'), 'user');
    default:
      return ids(await keys(client, 'issue', name), kindOf(name, parameter));
  }
}

function valuesInSchema(parameter: Parameter | undefined): readonly string[] {
  const { enum: values, items } = (parameter?.schema ?? {}) as {
    enum?: string[];
    items?: { enum?: string[] };
  };
  return (values ?? items?.enum ?? []).filter((value) => typeof value === 'string');
}

/** The kind of what the ids of a parameter name. */
function kindOf(name: string, parameter: Parameter | undefined): NamedKind {
  const value = parameter && 'value' in parameter ? parameter.value : parameter;
  const kind = value && 'names' in value ? value.names?.of : undefined;
  if (kind === undefined) throw new Error(`Say here which values the parameter ${name} of /v1/issues has.`);
  return kind;
}

function ids(uuids: readonly string[], prefix: NamedKind): string[] {
  return uuids.map((uuid) => encodeId(prefix, uuid));
}

/** The key with the most rows, one in the middle, and the one with the fewest. */
async function keys(client: pg.Client, from: string, column: string): Promise<string[]> {
  const { rows } = await client.query<{ key: string }>(`
    with counts as (select ${column} as key, count(*) as n from ${from} where ${column} is not null group by 1)
    select key::text from (select key, row_number() over (order by n desc, key) as nth, count(*) over () as c from counts) r
    where nth in (1, (c + 1) / 2, c) order by nth`);
  return rows.map(({ key }) => key);
}

async function ranks(client: pg.Client, column: string, written: string): Promise<string[]> {
  const { rows } = await client.query<{ v: string }>(`
    select ${written} as v from (select unnest(percentile_disc(array[0.03, 0.5, 0.97])
      within group (order by ${column})) as v from issue) p`);
  return rows.map(({ v }) => v);
}
