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
