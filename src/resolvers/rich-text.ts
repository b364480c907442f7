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
  // Most texts are of one: to look for ends of lines is cheaper than to part by them.
  const content = /[\r\n]/.test(plain) ? plain.split(/\r\n|\r|\n/).map(paragraph) : [paragraph(plain)];
  return { schemaVersion: 1, content: { type: 'doc', content } };
}

function paragraph(text: string): Paragraph {
  return { type: 'paragraph', content: text === '' ? [] : [{ type: 'text', text }] };
}
