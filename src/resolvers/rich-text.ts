interface TextNode {
  type: 'text';
  text: string;
}
interface Paragraph {
  type: 'paragraph';
  content: TextNode[];
}

/** The RichText of the REST specification, schema version 1. */
export interface RichText {
  schemaVersion: 1;
  content: { type: 'doc'; content: Paragraph[] };
}

/**
 * Converts plain text to rich text: each line becomes a paragraph, and an empty line a paragraph without a text node.
 */
export function toRichText(plain: string): RichText {
  // Most texts have a single line, and searching for line breaks is cheaper than splitting.
  const content = /[\r\n]/.test(plain) ? plain.split(/\r\n|\r|\n/).map(paragraph) : [paragraph(plain)];
  return { schemaVersion: 1, content: { type: 'doc', content } };
}

function paragraph(text: string): Paragraph {
  return { type: 'paragraph', content: text === '' ? [] : [{ type: 'text', text }] };
}
