import { type RawBuilder, sql } from 'kysely';

/**
 * The place of a value in a statement that is compiled once and run many times: it stands where the value would,
 * and each run puts its own there (`Prepared`).
 */
export class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value, or the place where each run puts one. */
export type Given<Value> = Value | Slot;

/** The place of a value where Kysely takes one and PostgreSQL knows its type. */
export function slot<Value = string>(name: string): Value {
  return new Slot(name) as Value;
}

/** The place of a value, with its type. */
export function typed<Value = string>(name: string, type: string): RawBuilder<Value> {
  return sql<Value>`${new Slot(name)}::${sql.raw(type)}`;
}
