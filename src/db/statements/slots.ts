import { type RawBuilder, sql } from 'kysely';

/**
 * A named parameter of a statement that is compiled once and run many times. Each run provides its value (`Prepared`).
 */
export class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value, or the slot that each run fills with a value. */
export type ValueOrSlot<Value> = Value | Slot;

/** A slot where Kysely expects a value and PostgreSQL can infer its type. */
export function slot<Value = string>(name: string): Value {
  return new Slot(name) as Value;
}

/** A slot with a cast to its type. */
export function typedSlot<Value = string>(name: string, type: string): RawBuilder<Value> {
  return sql<Value>`${new Slot(name)}::${sql.raw(type)}`;
}
