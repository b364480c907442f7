import { toRichText } from '../../resolvers/rich-text.ts';

/** For each scalar whose values may be long: how many bytes of JSON the value of a field takes in the answer. */
export const textBytes: ReadonlyMap<string, (value: unknown) => number> = new Map([
  ['String', jsonBytes],
  ['URL', jsonBytes],
  ['RichText', richTextBytes],
]);

/** Texts are measured as JSON, which escapes some characters: a quotation mark takes two bytes. */
function jsonBytes(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? Buffer.byteLength(JSON.stringify(value)) : 0;
}

/** Each line becomes a paragraph, which is longer than most lines. */
function richTextBytes(plain: unknown): number {
  if (typeof plain !== 'string') return 0;
  const lines = plain.split(/\r\n|\r|\n/);
  const texts = lines.filter((line) => line !== '');
  return jsonBytes(texts.join('')) + lines.length * emptyParagraphBytes + texts.length * textNodeBytes;
}

/** With the comma after the paragraph. */
const emptyParagraphBytes = paragraphBytes('') + ','.length;
/** The JSON around the characters of a line. */
const textNodeBytes = paragraphBytes('a') - paragraphBytes('') - 'a'.length;

function paragraphBytes(line: string): number {
  return JSON.stringify(toRichText(line).content.content[0]).length;
}
