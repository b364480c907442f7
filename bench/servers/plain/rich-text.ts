/** Converts plain text to the specification's RichText, with a paragraph for each line. */
export function richText(plain: string): unknown {
  const content = plain
    .split(/\r\n|\r|\n/)
    .map((text) => ({ type: 'paragraph', content: text === '' ? [] : [{ type: 'text', text }] }));
  return { schemaVersion: 1, content: { type: 'doc', content } };
}
