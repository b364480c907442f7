import { expect, test } from '@jest/globals';
import { buildSchema, getLocation, GraphQLError, parse, Source, validate } from 'graphql';
import { formatError } from '../../src/executor/answers/errors.ts';
import { DocumentSource } from '../../src/executor/documents/document-source.ts';
import { withoutSuggestions } from '../../src/executor/documents/introspection.ts';
import { DocumentReader } from '../../src/executor/documents/reader.ts';
import { InvalidRequest } from '../../src/executor/invalid-request.ts';
import { maxLines } from '../../src/executor/limits.ts';
import { randomOf } from '../support/samples.ts';

const schema = buildSchema('type Query { one: Int, two(a: Int): Int }');

test('a source finds the lines and columns that graphql-js finds', () => {
  const random = randomOf('line breaks');
  for (let count = 0; count < 200; count += 1) {
    const pieces = Array.from({ length: random.integer(0, 30) }, () =>
      random.pick(['\n', '\r', '\r\n', 'a', 'bc', '😀', '\u2028']),
    );
    const text = pieces.join('');
    const source = new DocumentSource(text);
    for (let position = 0; position <= text.length; position += 1) {
      // No token begins within a line break.
      if (text.slice(position - 1, position + 1) === '\r\n') continue;
      expect(source.locationOf(position)).toEqual(getLocation(new Source(text), position));
    }
  }
});

test('an invalid document has errors with the places that graphql-js gives them', () => {
  const text = '\n\r\n# first\r{ one\n  nothing\n  two(b: 1)\r\n  x: one  x: two }';
  const errors = errorsOf(text);
  expect(errors).toHaveLength(3);
  expect(errors.map(({ locations }) => locations)).toEqual(
    validate(schema, parse(text)).map(({ locations }) => locations),
  );
  expect(errors.map((error) => withoutSuggestions(error).locations)).toEqual(
    errors.map(({ locations }) => locations),
  );
});

test('a text that cannot be parsed has an error with its place', () => {
  expect(errorsOf('{ one\r\n\n  two( }')).toMatchObject([{ locations: [{ line: 3, column: 8 }] }]);
});

test('a document with more lines than a document may have is refused', () => {
  const text = `{ one${'\r\n'.repeat(maxLines - 1)}`;
  expect(errorsOf(text)).toMatchObject([{ locations: [{ line: maxLines, column: 1 }] }]);
  expect(() => new DocumentReader(schema).read(`${text}\r}`)).toThrow('more than 50,000 lines');
});

test('a valid document gives the errors of its fields their places without a search of its text', () => {
  const document = new DocumentReader(schema).read('\n\n{\n  one }');
  const [operation] = document.definitions;
  const nodes = operation && 'selectionSet' in operation ? operation.selectionSet?.selections : [];
  expect(nodes?.map(({ loc }) => loc?.source.body)).toEqual(['']);
  const error = formatError(new GraphQLError('no', { nodes: nodes ?? [], path: ['one'] }), 'the-id');
  expect(error.locations).toEqual([{ line: 4, column: 3 }]);
});

function errorsOf(text: string): readonly GraphQLError[] {
  try {
    new DocumentReader(schema).read(text);
  } catch (error) {
    if (error instanceof InvalidRequest) return error.errors;
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
  return [];
}
