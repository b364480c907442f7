/**
 * How many forms of its arguments a field remembers, and how long they may be. A statement is several times as long as its form, which
 * is as long as its filter, so all fields of all cached documents together must not remember many long ones.
 */
const maxForms = 30;
const maxFormLength = 1_000;

/** What a field needs for each form of its arguments. For a form that is too long to be remembered it is made each time. */
export class Forms<Value extends object> {
  readonly #values = new Map<string, Value>();

  of(form: string, make: () => Value): Value {
    const known = this.#values.get(form);
    if (known) return known;
    const made = make();
    if (form.length > maxFormLength) return made;
    if (this.#values.size >= maxForms) this.#values.clear();
    this.#values.set(form, made);
    return made;
  }
}
