import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { isCalendarDate, parseDateTime } from '../../model/times.ts';
import { toRichText } from '../../resolvers/rich-text.ts';
import { builder } from './builder.ts';

function refuse(message: string): never {
  throw new GraphQLError(message);
}

/** Reads a literal as the same value in the variables would be read. An error has the position of the literal. */
function inLiteral<Value>(read: (value: unknown) => Value): (node: ValueNode) => Value {
  return (node) => {
    try {
      return read(node.kind === Kind.STRING ? node.value : undefined);
    } catch (error) {
      throw error instanceof GraphQLError ? new GraphQLError(error.message, { nodes: node }) : error;
    }
  };
}

function toDateTime(value: unknown): Date {
  const date = typeof value === 'string' ? parseDateTime(value) : undefined;
  return date ?? refuse('DateTime must be ISO 8601 with an offset or Z, such as 2026-01-31T12:00:00Z.');
}

builder.scalarType('DateTime', {
  description:
    'A point in time in UTC, ISO 8601 with milliseconds: `2026-01-31T12:00:00.000Z`. Inputs may have any offset. Filters compare further digits of a second, up to nine; elsewhere they are cut off.',
  serialize: (value) => value.toISOString(),
  parseValue: toDateTime,
  parseLiteral: inLiteral(toDateTime),
});

function toDate(value: unknown): string {
  return typeof value === 'string' && isCalendarDate(value)
    ? value
    : refuse('Date must be a calendar date, such as 2026-01-31.');
}

builder.scalarType('Date', {
  description: 'A calendar date, `YYYY-MM-DD`, without a time or a time zone.',
  serialize: (value) => value,
  parseValue: toDate,
  parseLiteral: inLiteral(toDate),
});

function toText(value: unknown): string {
  return typeof value === 'string' ? value : refuse('URL must be a string.');
}

builder.scalarType('URL', {
  description: 'An absolute http or https URL, or a path of this service.',
  serialize: (value) => value,
  parseValue: toText,
  parseLiteral: inLiteral(toText),
});

builder.scalarType('RichText', {
  description:
    'A text in the form of the REST specification: `{ schemaVersion: 1, content: { type: "doc", content: [paragraph] } }`. It is an output only; inputs are plain text.',
  serialize: toRichText,
  parseValue: () => refuse('RichText is not an input; send plain text.'),
});
