/** Characters that a JSON string must escape, and halves of surrogate pairs, which have no UTF-8. */
// eslint-disable-next-line no-control-regex -- the pattern looks for control characters
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

/** A text as it is between the quotes of a JSON string. */
export function escaped(text: string): string {
  return special.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}
