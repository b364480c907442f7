import type { DirectoryRows, DirectoryTable } from '../../db/directory.ts';
import type { DirectoryUpdate, DirectoryWrites } from '../../db/writes/directory-writes.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { LocalRow } from '../../db/tables/tenant-tables.ts';
import { codeTables } from '../../model/codes.ts';
import { Violations } from '../../resolvers/errors.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { NewId } from '../row-ids.ts';

/** One line of what applying a directory file does, in words a person knows: no ids, no codes. */
export interface DirectoryChange {
  readonly action: 'create' | 'update';
  readonly kind: string;
  readonly name: string;
  readonly fields: Record<string, FieldChange>;
}
export type FieldChange = { from: unknown; to: unknown } | { added: string[] };

/** The tables whose rows have an id of their own. */
type EntityTable = Exclude<DirectoryTable, 'teamCounter' | 'teamMember' | 'projectMember' | 'projectLabel'>;
type JoinTable = 'teamMember' | 'projectMember' | 'projectLabel';

/** A thing that the file speaks of. */
interface Put<Table extends EntityTable> {
  kind: string;
  name: string;
  /** What tells it from others of its name; the name by default. */
  key?: string;
  existing: Row<Table> | undefined;
  /** Columns as the file wants them; an undefined one is not spoken of. */
  wanted: Partial<Row<Table>>;
  /** The other columns of a new row. */
  defaults: Partial<Row<Table>>;
}

/** The thing that another is added to, and how that is said. */
interface Owner {
  kind: string;
  name: string;
  id: string;
  field: string;
  addition: string;
}

export interface PlanOptions {
  /** Makes what is missing alone: where only one may have a mark, whoever has it keeps it. */
  keepExisting?: boolean;
  /** When the workspace was made, if the file makes it and says so. */
  workspaceMadeUtc?: Date | undefined;
  /** Gives new rows their ids; random ones by default. */
  newId?: NewId | undefined;
}

/**
 * What has to be written so that a workspace is as a file says, worked out from its rows without touching them.
 * The rows in `rows` are kept as they will be, so that later parts of the file may refer to earlier ones.
 */
export class DirectoryPlan implements DirectoryWrites {
  readonly rows: DirectoryRows;
  readonly keepExisting: boolean;
  /** When the workspace was made, if the file makes it. */
  readonly workspaceMadeUtc: Date | undefined;
  readonly newId: NewId;
  readonly violations = new Violations();
  readonly changes: DirectoryChange[] = [];
  readonly inserts = new Map<DirectoryTable, Record<string, unknown>[]>();
  readonly updates: DirectoryUpdate[] = [];
  /** Statuses that would go over between open, completed and canceled, with their place in the file. */
  readonly recategorized = new Map<string, string>();
  readonly #created = new Set<string>();
  readonly #updated = new Map<string, DirectoryChange>();
  readonly #names = new Map<string, string>();

  constructor(
    rows: DirectoryRows,
    { keepExisting = false, workspaceMadeUtc, newId = () => newUuid() }: PlanOptions,
  ) {
    this.rows = rows;
    this.keepExisting = keepExisting;
    this.workspaceMadeUtc = workspaceMadeUtc;
    this.newId = newId;
    for (const { userAccountId, displayName } of rows.member) this.#names.set(userAccountId, displayName);
    for (const { id, code } of rows.team) this.#names.set(id, code);
    for (const { id, name } of [...rows.label, ...rows.projectStatus]) this.#names.set(id, name);
  }

  isNew(id: string): boolean {
    return this.#created.has(id);
  }

  /** Makes the row or changes what differs; returns it as it will be. */
  put<Table extends EntityTable>(
    table: Table,
    { kind, name, key = name, existing, wanted, defaults }: Put<Table>,
  ): Row<Table> {
    if (existing) {
      if (!this.keepExisting) this.#update(table, kind, name, existing, wanted);
      return existing;
    }
    const columns: Record<string, unknown> = { ...given(defaults), ...given(wanted) };
    const madeUtc = columns.createdUtc instanceof Date ? columns.createdUtc : new Date();
    const id = this.newId({ kind, key, madeUtc });
    const row = { id, ...columns };
    this.#created.add(id);
    this.#insert(table, row);
    this.changes.push({ action: 'create', kind, name, fields: {} });
    this.#name(row, name);
    // The file's own columns, the defaults and the database's own make a whole row.
    return row as unknown as Row<Table>;
  }

  /** Puts a row between two things, if it is not there. */
  join<Table extends JoinTable>(table: Table, owner: Owner, row: LocalRow<Table>): void {
    const known = this.rows[table] as Record<string, unknown>[];
    const isKnown = known.some((each) =>
      Object.entries(row).every(([column, value]) => each[column] === value),
    );
    if (isKnown || (this.keepExisting && !this.isNew(owner.id))) return;
    this.#insert(table, row);
    if (!this.isNew(owner.id)) this.#noteAddition(owner);
  }

  /** The counter that numbers the issues of a new team. */
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
      Object.entries(given(wanted)).filter(([column, value]) => !isSame(before[column], value)),
    );
    if (Object.keys(columns).length === 0) return;
    const id = String(before.id);
    for (const [column, value] of Object.entries(columns)) {
      if (isDerived(table, column)) continue;
      this.#change(id, kind, name).fields[fieldNames[column] ?? column] = {
        from: this.#shown(table, column, before[column]),
        to: this.#shown(table, column, value),
      };
    }
    this.updates.push({ table, id, columns });
    Object.assign(existing, columns);
    this.#name(before, name);
  }

  #noteAddition({ kind, name, id, field, addition }: Owner): void {
    const { fields } = this.#change(id, kind, name);
    const before = fields[field];
    fields[field] = { added: [...(before && 'added' in before ? before.added : []), addition] };
  }

  /** The line about a thing that is changed; there is one for each. */
  #change(id: string, kind: string, name: string): DirectoryChange {
    const known = this.#updated.get(id);
    if (known) return known;
    const change: DirectoryChange = { action: 'update', kind, name, fields: {} };
    this.#updated.set(id, change);
    this.changes.push(change);
    return change;
  }

  /** Of a member the account is what others refer to. */
  #name(row: Record<string, unknown>, name: string): void {
    this.#names.set(String(row.userAccountId ?? row.id), name);
  }

  #shown(table: string, column: string, value: unknown): unknown {
    if (value instanceof Date) return value.toISOString();
    const codes = codesOf[`${table}.${column}`];
    if (codes) return Object.keys(codes).find((word) => codes[word] === value) ?? value;
    return typeof value === 'string' ? (this.#names.get(value) ?? value) : (value ?? null);
  }
}

const codesOf: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'member.role': codeTables.memberRole,
  'member.status': codeTables.memberStatus,
  'member.principalKind': codeTables.principalKind,
  'team.state': codeTables.teamState,
  'status.category': codeTables.statusCategory,
  'delivery.state': codeTables.deliveryState,
  'projectStatus.state': codeTables.projectState,
  'project.priority': codeTables.priority,
  'repository.provider': codeTables.provider,
};

/** Columns that follow from others and say nothing of their own. */
function isDerived(table: string, column: string): boolean {
  if (column.endsWith('Fold') || column === 'isTerminal') return true;
  return table === 'project' && (column === 'state' || column === 'statusPosition');
}

/** The file's words for columns that refer to other things. */
const fieldNames: Readonly<Record<string, string>> = {
  leadUserAccountId: 'lead',
  teamId: 'team',
  groupId: 'group',
  statusId: 'status',
};

/** The times of a new row: those of its entry, else those of what it belongs to, else the database's own. */
export function timesOf(
  { createdUtc, updatedUtc }: { createdUtc?: Date | undefined; updatedUtc?: Date | undefined },
  otherwise?: Date,
): { createdUtc?: Date; updatedUtc?: Date } {
  const madeUtc = createdUtc ?? otherwise;
  const changedUtc = updatedUtc ?? madeUtc;
  return { ...(madeUtc && { createdUtc: madeUtc }), ...(changedUtc && { updatedUtc: changedUtc }) };
}

function given<Columns extends object>(columns: Columns): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

function isSame(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  return left === right;
}
