import type { DirectoryRows, DirectoryTable } from '../../db/directory.ts';
import type { DerivedChange, DirectoryUpdate, DirectoryWrites } from '../../db/writes/directory-writes.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { LocalRow } from '../../db/tables/tenant-tables.ts';
import { eventOfTable } from '../../model/events.ts';
import type { LoggableEvent } from '../../resolvers/changes/log-events.ts';
import { Violations } from '../../resolvers/errors.ts';
import { newUuid } from '../../resolvers/ids.ts';
import { isLonger } from '../../model/text-rules.ts';
import { limits } from '../../model/limits.ts';
import type { NewId } from '../row-ids.ts';
import { codesOfColumn } from './directory-file.ts';

/** One change that a directory file makes, as it is shown to people: with names instead of ids and codes. */
export interface DirectoryChange {
  readonly action: 'create' | 'update';
  readonly kind: string;
  readonly name: string;
  readonly fields: Record<string, FieldChange>;
}

/** The same change for the log of changes, to which the plan adds further fields of the row. */
interface DirectoryEvent extends LoggableEvent {
  readonly previous: Record<string, unknown>;
  readonly fields: string[];
}

export type FieldChange = { from: unknown; to: unknown } | { added: string[] };

/** The tables whose rows have ids. */
type EntityTable = Exclude<DirectoryTable, 'teamCounter' | 'teamMember' | 'projectMember' | 'projectLabel'>;
type JoinTable = 'teamMember' | 'projectMember' | 'projectLabel';

/** A row that the file describes. */
interface DescribedRow<Table extends EntityTable> {
  kind: string;
  name: string;
  /** The text that identifies the row among its kind; by default the name. */
  key?: string;
  existing: Row<Table> | undefined;
  /** The columns that the file sets. The file does not mention columns that are undefined. */
  wanted: Partial<Row<Table>>;
  /** The columns of a new row that the file does not set. */
  defaults: Partial<Row<Table>>;
}

/** The row that another row is added to, and the texts for the change. */
interface Owner {
  kind: string;
  name: string;
  id: string;
  teamId: string;
  field: string;
  addition: string;
}

export interface PlanOptions {
  /** Creates missing rows and updates none. If only one row may have a flag, the existing row keeps it. */
  keepExisting?: boolean;
  /** The creation time of the workspace, if the file creates it and has the time. */
  workspaceCreatedUtc?: Date | undefined;
  /** Makes the ids of new rows; random ids by default. */
  newId?: NewId | undefined;
}

/**
 * The writes that make a workspace match a file. Nothing is written to the database while the plan is made, but `rows` is updated
 * to the future state, so that later parts of the file can refer to earlier parts.
 */
export class DirectoryPlan implements DirectoryWrites {
  readonly rows: DirectoryRows;
  readonly keepExisting: boolean;
  /** The creation time of the workspace, if the file creates it. */
  readonly workspaceCreatedUtc: Date | undefined;
  readonly newId: NewId;
  readonly violations = new Violations();
  readonly changes: DirectoryChange[] = [];
  /** The events for the log of changes, by the ids of their rows. */
  readonly events = new Map<string, DirectoryEvent>();
  readonly inserts = new Map<DirectoryTable, Record<string, unknown>[]>();
  readonly updates: DirectoryUpdate[] = [];
  /**
   * Existing statuses whose category would change between open, completed and canceled, with their paths in the file.
   */
  readonly recategorized = new Map<string, string>();
  readonly #created = new Set<string>();
  readonly #updated = new Map<string, DirectoryChange>();
  readonly #names = new Map<string, string>();

  constructor(
    rows: DirectoryRows,
    { keepExisting = false, workspaceCreatedUtc, newId = () => newUuid() }: PlanOptions,
  ) {
    this.rows = rows;
    this.keepExisting = keepExisting;
    this.workspaceCreatedUtc = workspaceCreatedUtc;
    this.newId = newId;
    for (const { userAccountId, displayName } of rows.member) this.#names.set(userAccountId, displayName);
    for (const { id, code } of rows.team) this.#names.set(id, code);
    for (const { id, name } of [...rows.label, ...rows.projectStatus]) this.#names.set(id, name);
  }

  isNew(id: string): boolean {
    return this.#created.has(id);
  }

  /** Plans to create the row, or to update the columns that differ. Returns the row as it will be. */
  put<Table extends EntityTable>(
    table: Table,
    { kind, name, key = name, existing, wanted, defaults }: DescribedRow<Table>,
  ): Row<Table> {
    if (existing) {
      if (!this.keepExisting) this.#update(table, kind, name, existing, wanted);
      return existing;
    }
    const columns: Record<string, unknown> = { ...defined(defaults), ...defined(wanted) };
    const createdUtc = columns.createdUtc instanceof Date ? columns.createdUtc : new Date();
    const id = this.newId({ kind, key, createdUtc });
    const row = { id, ...columns };
    this.#created.add(id);
    this.#insert(table, row);
    this.changes.push({ action: 'create', kind, name, fields: {} });
    this.#log('created', table, row);
    this.#name(row, name);
    // The columns of the file, the defaults here and those of the database together are a complete row.
    return row as unknown as Row<Table>;
  }

  /** Plans to insert a row into a join table, unless it exists. */
  join<Table extends JoinTable>(table: Table, owner: Owner, row: LocalRow<Table>): void {
    const known = this.rows[table] as Record<string, unknown>[];
    const isKnown = known.some((each) =>
      Object.entries(row).every(([column, value]) => each[column] === value),
    );
    if (isKnown || (this.keepExisting && !this.isNew(owner.id))) return;
    this.#insert(table, row);
    if (!this.isNew(owner.id)) this.#noteAddition(owner);
  }

  /** Plans the counter for the issue numbers of a new team. */
  startCounter(teamId: string): void {
    this.#insert('teamCounter', { teamId });
  }

  #insert(table: DirectoryTable, row: object): void {
    const rows = this.inserts.get(table) ?? [];
    rows.push({ ...row });
    this.inserts.set(table, rows);
    (this.rows[table] as object[]).push(row);
  }

  #update<Table extends EntityTable>(
    table: Table,
    kind: string,
    name: string,
    existing: Row<Table>,
    wanted: Partial<Row<Table>>,
  ): void {
    const before = existing as Record<string, unknown>;
    const columns = Object.fromEntries(
      Object.entries(defined(wanted)).filter(([column, value]) => !isSame(before[column], value)),
    );
    if (Object.keys(columns).length === 0) return;
    const id = String(before.id);
    const event = this.#log('updated', table, { ...before, id });
    for (const [column, value] of Object.entries(columns)) {
      if (isDerived(table, column)) continue;
      event.fields.push(column);
      event.previous[column] = loggedValue(before[column]);
      this.#change(id, kind, name).fields[fieldNames[column] ?? column] = {
        from: this.#shown(table, column, before[column]),
        to: this.#shown(table, column, value),
      };
    }
    this.updates.push({ table, id, columns });
    Object.assign(existing, columns);
    this.#name(before, name);
  }

  #noteAddition({ kind, name, id, teamId, field, addition }: Owner): void {
    const { fields } = this.#change(id, kind, name);
    const before = fields[field];
    fields[field] = { added: [...(before && 'added' in before ? before.added : []), addition] };
    if (!before) this.#log('updated', kind, { id, teamId }).fields.push(field);
  }

  /** Adds the derived fields of a row, which the writes of other rows have changed, to what is logged. */
  logDerived({ table, previous, ...row }: DerivedChange): void {
    const event = this.#log('updated', table, row);
    for (const field of Object.keys(previous)) event.fields.push(field);
    Object.assign(event.previous, previous);
  }

  /** The event of a row. Each row has at most one. */
  #log(act: 'created' | 'updated', table: string, row: Record<string, unknown>): DirectoryEvent {
    const subjectId = String(row.id);
    const known = this.events.get(subjectId);
    if (known) return known;
    const eventType = eventOfTable(table, act);
    if (!eventType) throw new Error(`There is no event for a ${table} that was ${act}.`);
    const teamId = table === 'team' ? subjectId : typeof row.teamId === 'string' ? row.teamId : null;
    const event = { eventType, subjectId, teamId, previous: {}, fields: [] };
    this.events.set(subjectId, event);
    return event;
  }

  /** The change of an updated row; each row has one change. */
  #change(id: string, kind: string, name: string): DirectoryChange {
    const known = this.#updated.get(id);
    if (known) return known;
    const change: DirectoryChange = { action: 'update', kind, name, fields: {} };
    this.#updated.set(id, change);
    this.changes.push(change);
    return change;
  }

  /** Remembers the name of a row by the id that other rows refer to, which for a member is the account. */
  #name(row: Record<string, unknown>, name: string): void {
    this.#names.set(String(row.userAccountId ?? row.id), name);
  }

  #shown(table: string, column: string, value: unknown): unknown {
    if (value instanceof Date) return value.toISOString();
    const codes = codesOfColumn(table, column);
    if (codes) return Object.keys(codes).find((word) => codes[word] === value) ?? value;
    return typeof value === 'string' ? (this.#names.get(value) ?? value) : (value ?? null);
  }
}

/** Whether a column follows from other columns, so that its change need not be reported. */
function isDerived(table: string, column: string): boolean {
  if (column.endsWith('Fold') || column === 'isTerminal') return true;
  return table === 'project' && (column === 'state' || column === 'statusPosition');
}

/** The field names in the file for columns that refer to other rows. */
const fieldNames: Readonly<Record<string, string>> = {
  leadUserAccountId: 'lead',
  teamId: 'team',
  groupId: 'group',
  statusId: 'status',
};

/**
 * The times of a new row: those of its entry, otherwise the time of its owner, otherwise the defaults of the database.
 */
export function timesOf(
  { createdUtc, updatedUtc }: { createdUtc?: Date | undefined; updatedUtc?: Date | undefined },
  otherwise?: Date,
): { createdUtc?: Date; updatedUtc?: Date } {
  const created = createdUtc ?? otherwise;
  const updated = updatedUtc ?? created;
  return { ...(created && { createdUtc: created }), ...(updated && { updatedUtc: updated }) };
}

function defined<Columns extends object>(columns: Columns): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** A previous value for the log of changes, which stores no long texts, as of issues. */
function loggedValue(value: unknown): unknown {
  return typeof value === 'string' && isLonger(value, limits.title) ? null : (value ?? null);
}

function isSame(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  return left === right;
}
