import { sql } from 'kysely';
import type { UnscopedTrx } from '../engine/transaction.ts';
import type { Rule } from './rule.ts';

/** The references to rows of other tables for which there is no foreign key. */
const withoutForeignKey: readonly Reference[] = [
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

const outlives = 'changes are stored longer than the objects that they are about';

/** The columns of UUIDs that no rule checks, because they do not always refer to a row of one table; each with its reason. */
export const uncheckedReferences: Readonly<Record<string, string>> = {
  'agent_installation.application_id': 'applications are not stored in this database',
  'agent_thread.application_id': 'applications are not stored in this database',
  'agent_thread_message.application_id': 'applications are not stored in this database',
  'audit_entry.user_account_id': 'audit entries are stored longer than the objects that they are about',
  'audit_entry.token_id': 'audit entries are stored longer than the objects that they are about',
  'issue_tally.group_id': 'its table depends on the kind; the rule of tallies compares it with the issues',
  'reference_change.group_id': 'its table depends on the row, which may have been removed since',
  'change_inbox.change_id': 'it is the id of the change itself',
  'change_inbox.actor_user_account_id': outlives,
  'change_inbox.issue_id': outlives,
  'change_inbox.team_id': outlives,
  'change_inbox.subject_id': outlives,
  'change.actor_user_account_id': outlives,
  'change.issue_id': outlives,
  'change.team_id': outlives,
  'change.subject_id': outlives,
  'webhook.claim_id': 'it identifies a process',
  'webhook_delivery.change_id': outlives,
  'webhook_delivery.issue_id': outlives,
  'import_source.target_id': 'its table depends on the kind; a rule of its own checks it',
};

/** Columns of one table that refer to a row of another. */
export interface Reference {
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
}

/**
 * A rule for each reference of the database: the foreign keys of its catalog, valid or not, the workspace of every row, and
 * the references without a foreign key. Every key of a tenant's table begins with the workspace, so a reference whose row
 * is found does not leave the workspace.
 */
export async function referenceRules(trx: UnscopedTrx): Promise<Rule[]> {
  return (await selectReferences(trx)).map(ruleOf);
}

/** Every reference between tables, each once. */
export async function selectReferences(trx: UnscopedTrx): Promise<Reference[]> {
  const { rows: foreignKeys } = await sql<Reference>`
    select c.conrelid::regclass::text as table, c.confrelid::regclass::text as target,
      array(select a.attname::text from unnest(c.conkey) with ordinality as k(number, ordinal)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number order by k.ordinal) as columns,
      array(select a.attname::text from unnest(c.confkey) with ordinality as k(number, ordinal)
        join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.number order by k.ordinal) as "targetColumns"
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
  const all = [...foreignKeys, ...withoutForeignKey, ...ofWorkspaces];
  return [...new Map(all.map((one) => [nameOf(one), one])).values()];
}

function ruleOf(reference: Reference): Rule {
  const { table, columns, target, targetColumns } = reference;
  const isTenant = columns.includes('workspace_id');
  const isSet = columns.map((column) => `r.${column} is not null`).join(' and ');
  const matches = columns.map((column, index) => `t.${targetColumns[index]} = r.${column}`).join(' and ');
  const shown = columns.filter((column) => column !== 'workspace_id' || columns.length === 1);
  return {
    name: nameOf(reference),
    checksAllWorkspaces: isTenant && columns.length === 1,
    statement: `
      select ${isTenant ? 'r.workspace_id' : 'null::uuid as workspace_id'}, concat_ws(' ', '${table}', coalesce(to_jsonb(r) ->> 'id', to_jsonb(r) ->> 'issue_id')) as key,
        concat_ws(', ', ${shown.map((column) => `'${column} ' || r.${column}`).join(', ')}) || ' does not exist' as detail
      from ${table} r left join ${target} t on ${matches}
      where ${isSet} and t.${targetColumns[0]} is null`,
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
