import { expect, it } from '@jest/globals';
import { buildSchema, execute, GraphQLError, parse } from 'graphql';
import { answerFromSchema } from '../../src/executor/answers/schema-answers.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';

const schema = buildSchema('type Query { one: Int }');
const query = 'query ($name: String!) { __type(name: $name) { name } }';

/** Answers a document with variables, and counts how often it is executed. */
function answering(text: string) {
  const document = parse(text);
  const operation = chooseOperation(document, undefined);
  let executed = 0;
  const ask = async (variables: Record<string, unknown>, extra = {}) => {
    const coerced = { schema, document, operation, fragments: fragmentsOf(document), variables };
    const { json, errors, objects } = await answerFromSchema(
      coerced,
      () => 1,
      async () => {
        executed += 1;
        return { ...(await execute({ schema, document, variableValues: variables })), ...extra };
      },
    );
    return { text: json?.bytes.toString(), bytes: json?.bytes, errors, objects };
  };
  return { ask, executed: () => executed };
}

it('a query of the schema is executed once for each of its variables', async () => {
  const { ask, executed } = answering(query);
  const first = await ask({ name: 'Query' });
  expect(first).toMatchObject({ text: '{"data":{"__type":{"name":"Query"}}}', objects: 1 });
  expect((await ask({ name: 'Query' })).bytes).toBe(first.bytes);
  expect(executed()).toBe(1);
  expect((await ask({ name: 'Int' })).text).toBe('{"data":{"__type":{"name":"Int"}}}');
  expect(executed()).toBe(2);
});

it('two documents have answers of their own', async () => {
  const one = answering('{ __type(name: "Query") { name } }');
  const other = answering('{ __type(name: "Query") { kind } }');
  await one.ask({});
  expect((await other.ask({})).text).toBe('{"data":{"__type":{"kind":"OBJECT"}}}');
});

it('an answer with errors is not cached', async () => {
  const { ask, executed } = answering(query);
  const failed = await ask({ name: 'Query' }, { errors: [new GraphQLError('Late')] });
  expect(failed.errors).toHaveLength(1);
  expect((await ask({ name: 'Query' })).errors).toBeUndefined();
  expect(executed()).toBe(2);
});

it('variables do not fill the cache of answers, however long they are', async () => {
  const { ask, executed } = answering(query);
  const names = (count: number, length: number) =>
    Array.from({ length: count }, (_, n) => String(n).padStart(length, 'x'));
  const [first = ''] = names(1, 400_000);
  await ask({ name: first });
  for (const name of names(8, 400_000)) await ask({ name });
  const before = executed();
  await ask({ name: first });
  // Eight others have pushed it out; answers of 24 bytes would not have.
  expect(executed()).toBe(before + 1);
  const [long = ''] = names(1, 600_000);
  await ask({ name: long });
  await ask({ name: long });
  expect(executed()).toBe(before + 3);
});
