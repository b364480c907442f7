/**
 * The maximum number of forms that a field remembers, and the maximum length of each. A form is as long as the filter in it, and
 * its statement several times as long, so the fields of all cached documents together must not remember many long ones.
 */
const maxForms = 30;
const maxFormLength = 1_000;

/** Remembers a value, such as a statement, for each form of the arguments of a field. For a long form it is made each time. */
export class ValuesByForm<Value extends object> {
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
