interface TextNode {
  type: 'text';
  text: string;
}
interface Paragraph {
  type: 'paragraph';
  content: TextNode[];
}

/** The specification's RichText, schema version 1. */
export interface RichText {
  schemaVersion: 1;
  content: { type: 'doc'; content: Paragraph[] };
}

/** Plain text as rich text: a paragraph for each line; an empty line is a paragraph without a text node. */
export function toRichText(plain: string): RichText {
  const content = plain
    .split(/\r\n|\r|\n/)
    .map((text): Paragraph => ({ type: 'paragraph', content: text === '' ? [] : [{ type: 'text', text }] }));
  return { schemaVersion: 1, content: { type: 'doc', content } };
}
