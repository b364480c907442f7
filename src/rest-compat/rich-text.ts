import { limits } from '../model/limits.ts';
import type { JsonSchema } from './json-schema.ts';

const textNode: JsonSchema = {
  title: 'TextNode',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'text' },
    text: { type: 'string', maxLength: limits.comment },
  },
  required: ['type', 'text'],
};

const paragraphNode: JsonSchema = {
  title: 'ParagraphNode',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'paragraph' },
    content: { type: 'array', items: textNode, maxItems: 1 },
  },
  required: ['type', 'content'],
};

/** The specification's RichText. */
export const richTextSchema: JsonSchema = {
  title: 'RichText',
  type: 'object',
  properties: {
    schemaVersion: {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 1,
      description: 'The version of this form: 1.',
    },
    content: {
      title: 'RichTextDocument',
      type: 'object',
      properties: {
        type: { type: 'string', const: 'doc' },
        // A text has one paragraph more than it has line breaks.
        content: { type: 'array', items: paragraphNode, maxItems: limits.comment + 1 },
      },
      required: ['type', 'content'],
    },
  },
  required: ['schemaVersion', 'content'],
};
