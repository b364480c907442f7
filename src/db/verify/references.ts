import { sql } from 'kysely';
import type { UnscopedTrx } from '../engine/transaction.ts';
import type { Rule } from './rule.ts';

/** What points at rows of another table without a foreign key that would hold it there. */
const unenforced: readonly Reference[] = [
  reference('delivery_count', ['workspace_id', 'delivery_id'], 'delivery', ['workspace_id', 'id']),
  reference('project_count', ['workspace_id', 'project_id'], 'project', ['workspace_id', 'id']),
  reference('issue_stage', ['workspace_id', 'team_id'], 'team', ['workspace_id', 'id']),
  reference('issue_stage', ['workspace_id', 'team_id', 'status_id'], 'status', [
    'workspace_id',
    'team_id',
    'id',
  ]),
  reference('issue_stage', ['workspace_id', 'team_id', 'previous_status_id'], 'status', [
    'workspace_id',
    'team_id',
    'id',
  ]),
  reference('issue_stage', ['workspace_id', 'team_id', 'delivery_id'], 'delivery', [
    'workspace_id',
    'team_id',
    'id',
  ]),
  reference('issue_stage', ['workspace_id', 'project_id'], 'project', ['workspace_id', 'id']),
  reference('issue_text', ['workspace_id', 'issue_id'], 'issue', ['workspace_id', 'id']),
  reference('issue_tally', ['workspace_id', 'team_id', 'status_id'], 'status', [
    'workspace_id',
    'team_id',
    'id',
  ]),
  reference('webhook_delivery', ['workspace_id', 'webhook_id'], 'webhook', ['workspace_id', 'id']),
  reference('agent_thread_message', ['workspace_id', 'agent_user_account_id'], 'member', [
    'workspace_id',
    'user_account_id',
  ]),
  reference('agent_thread_message', ['workspace_id', 'application_installation_id'], 'agent_installation', [
    'workspace_id',
    'id',
  ]),
];

const outlives = 'a change outlives what it is about';

/** Columns of uuids that point at no row of one table, each with its reason. */
export const pointingNowhere: Readonly<Record<string, string>> = {
  'agent_installation.application_id': 'applications are known elsewhere',
  'agent_thread.application_id': 'applications are known elsewhere',
  'agent_thread_message.application_id': 'applications are known elsewhere',
  'audit_entry.user_account_id': 'an entry outlives what it is about',
  'audit_entry.token_id': 'an entry outlives what it is about',
  'issue_tally.group_id':
    'of several tables, as its kind says; the rule of tallies compares it with the issues',
  'reference_change.group_id': 'of several tables; what has been removed since is there no more',
  'change_inbox.change_id': 'it names the change itself',
  'change_inbox.actor_user_account_id': outlives,
  'change_inbox.issue_id': outlives,
  'change_inbox.team_id': outlives,
  'change_inbox.subject_id': outlives,
  'change.actor_user_account_id': outlives,
  'change.issue_id': outlives,
  'change.team_id': outlives,
  'change.subject_id': outlives,
  'webhook.claim_id': 'it names a process',
  'webhook_delivery.change_id': outlives,
  'webhook_delivery.issue_id': outlives,
  'import_source.target_id': 'of several tables, as its kind says; a rule of its own follows it',
};

/** Columns of one table that name a row of another. */
export interface Reference {
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
}

/**
 * A rule for each reference of the database: the foreign keys of its catalog, whether they were enforced or not, the
 * workspace of every row, and what no foreign key holds. Since every key of a tenant's table leads with the workspace,
 * a reference that is found stays within it.
 */
export async function referenceRules(trx: UnscopedTrx): Promise<Rule[]> {
  return (await selectReferences(trx)).map(ruleOf);
}

/** Every reference between tables, each once. */
export async function selectReferences(trx: UnscopedTrx): Promise<Reference[]> {
  const { rows: foreignKeys } = await sql<Reference>`
    select c.conrelid::regclass::text as table, c.confrelid::regclass::text as target,
      array(select a.attname::text from unnest(c.conkey) with ordinality as k(number, place)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number order by k.place) as columns,
      array(select a.attname::text from unnest(c.confkey) with ordinality as k(number, place)
        join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.number order by k.place) as "targetColumns"
    from pg_constraint c
    where c.contype = 'f' and c.conparentid = 0 and c.connamespace = current_schema()::regnamespace
    order by 1, c.conname`.execute(trx);
  const { rows: tenants } = await sql<{ table: string }>`
    select c.oid::regclass::text as table from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
      and c.relname <> 'workspace'
    order by 1`.execute(trx);
  const ofWorkspaces = tenants.map(({ table }) =>
    reference(table, ['workspace_id'], 'workspace', ['workspace_id']),
  );
  const all = [...foreignKeys, ...unenforced, ...ofWorkspaces];
  return [...new Map(all.map((one) => [nameOf(one), one])).values()];
}

function ruleOf(reference: Reference): Rule {
  const { table, columns, target, targetColumns } = reference;
  const isTenant = columns.includes('workspace_id');
  const given = columns.map((column) => `r.${column} is not null`).join(' and ');
  const matches = columns.map((column, place) => `t.${targetColumns[place]} = r.${column}`).join(' and ');
  const words = columns.filter((column) => column !== 'workspace_id' || columns.length === 1);
  return {
    name: nameOf(reference),
    statement: `
      select ${isTenant ? 'r.workspace_id' : 'null::uuid as workspace_id'}, concat_ws(' ', '${table}', coalesce(to_jsonb(r) ->> 'id', to_jsonb(r) ->> 'issue_id')) as key,
        concat_ws(', ', ${words.map((column) => `'${column} ' || r.${column}`).join(', ')}) || ' is not there' as detail
      from ${table} r left join ${target} t on ${matches}
      where ${given} and t.${targetColumns[0]} is null`,
  };
}

function nameOf({ table, columns, target }: Reference): string {
  return `${table} (${columns.join(', ')}) is in ${target}`;
}

function reference(
  table: string,
  columns: readonly string[],
  target: string,
  targetColumns: readonly string[],
): Reference {
  return { table, columns, target, targetColumns };
}
