/** What must not stand in a JSON string as it is: quotes, backslashes, control characters, halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex -- they are what is looked for
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The text as a JSON string. */
export function quoted(text: string): string {
  return special.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** What stands before the value of each field of an object. */
export function headsOf(fields: readonly { key: string }[]): readonly string[] {
  return fields.map(({ key }, place) => `${place === 0 ? '{' : ','}${quoted(key)}:`);
}

/** An object; texts are added up rather than joined, so that they are copied once, when the whole answer is sent. */
export function objectText(heads: readonly string[], text: (place: number) => string): string {
  let all = '';
  for (let place = 0; place < heads.length; place += 1) all += (heads[place] as string) + text(place);
  return all === '' ? '{}' : `${all}}`;
}

/** A list of what is written at each place from one to before another. */
export function listText(from: number, to: number, text: (place: number) => string): string {
  let all = '[';
  for (let place = from; place < to; place += 1) all += place === from ? text(place) : `,${text(place)}`;
  return `${all}]`;
}
