import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineCommand } from 'citty';
import { isJsonObject, tryParseJson } from '../model/json.ts';
import { CommandError, locatedMessagesOf, refuseWrongArguments, reportFailure } from './failures.ts';
import { pluralize } from './pluralize.ts';

const args = {
  file: { type: 'positional', description: 'A file with a GraphQL document', required: true },
  operation: {
    type: 'string',
    valueHint: 'name',
    description: 'The name of the operation, if the document has several',
  },
  variables: {
    type: 'string',
    valueHint: 'json',
    description: 'The variables, as a JSON object',
    default: '{}',
  },
} as const;

export const command = defineCommand({
  meta: {
    name: 'explain',
  },
  args,
  async run(context) {
    process.exitCode = await reportFailure(async () => {
      refuseWrongArguments(context.args, args);
      const { file, operation, variables } = context.args;
      return explain(await textOf(file), operation, parseVariables(variables)).catch((error: unknown) => {
        throw new CommandError(locatedMessagesOf(error, file).join('\n'), { cause: error });
      });
    });
  },
});

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new CommandError(`There is no file ${resolve(file)}.`);
    throw new CommandError(`${file} cannot be read.`, { cause: error });
  });
}

async function explain(
  text: string,
  operationName: string | undefined,
  inputs: Record<string, unknown>,
): Promise<number> {
  const [
    { schema },
    { DocumentReader },
    { chooseOperation },
    { explainOperation },
    { fragmentsOf },
    { coerceVariables },
  ] = await Promise.all([
    import('../schema/index.ts'),
    import('../executor/documents/reader.ts'),
    import('../executor/run/execute.ts'),
    import('../executor/run/explain.ts'),
    import('../executor/selections/operation.ts'),
    import('../executor/inputs/variables.ts'),
  ]);
  const document = new DocumentReader(schema).read(text);
  const operation = chooseOperation(document, operationName);
  const variables = coerceVariables({ schema, operation, fragments: fragmentsOf(document) }, inputs);
  const { cost, levels, longest } = await explainOperation(schema, document, operation, variables);
  const lines = [`${operation.name?.value ?? 'The operation'}: at most ${cost.toLocaleString('en')} objects`];
  if (levels) {
    const atMost = longest && longest.length > levels.length ? `; at most ${formatRoundTrips(longest)}` : '';
    lines.push(`${formatRoundTrips(levels)}, whatever the number of rows${atMost}`);
    levels.forEach((level, index) => {
      lines.push('', `round trip ${index + 1}`, ...level.map((text) => `  ${text}`));
    });
  } else lines.push('the graphql-js executor answers it, field by field');
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

function formatRoundTrips(levels: readonly (readonly string[])[]): string {
  const statements = levels.reduce((sum, level) => sum + level.length, 0);
  return `${pluralize(statements, 'SQL statement')} in ${pluralize(levels.length, 'round trip')}`;
}

function parseVariables(text: string): Record<string, unknown> {
  const variables = tryParseJson(text);
  if (isJsonObject(variables)) return variables;
  throw new CommandError('--variables must be a JSON object.');
}
