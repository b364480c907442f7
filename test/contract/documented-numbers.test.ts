import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { serveCommand } from '../../src/cli/serve/serve.ts';
import { readConfig } from '../../src/server/config.ts';
import { flagNameOf } from '../../src/server/setting-flags.ts';
import { type SettingName, settingNames, settings } from '../../src/server/settings.ts';

// The numbers that the documentation states, to be compared with the constants of the code. To add one, copy its
// sentence or the beginning of its table row, and put `{file constant}` (within src) in place of the number. To convert the
// unit, divide: `{server/http/upload-body.ts withinMs / 60_000} min`.
const statements: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['does not respond within {server/context.ts readinessTimeoutMs} ms'],
  'docs/attachments.md': [
    'It is valid for {resolvers/attachments/signed-urls.ts signedForMs / 60_000} minutes and for one method',
    'took longer than {server/http/upload-body.ts withinMs / 60_000} min',
    'its first {resolvers/attachments/preview-texts.ts headBytes / 1024} KiB',
    '{resolvers/issues/issue-deletion.ts restorableMs / 86_400_000} days ago, with everything',
  ],
  'docs/graph.md': [
    'up to {resolvers/filters.ts maxConditions} conditions, of which {resolvers/filters.ts maxRelatedConditions} may be on related objects, and a list in it up to {model/limits.ts filterValues} values',
    'operation with at most {executor/limits.ts maxFullReads} pages of filtered lists',
    'may be nested {resolvers/filters.ts maxCombinators} deep, relations {resolvers/filters.ts maxRelations} deep',
    'A body of {executor/limits.ts maxBodyBytes} bytes; a document of {executor/limits.ts maxTokens} tokens, selections {executor/limits.ts maxDepth} deep, at most {executor/limits.ts defaultOperationCost} objects that it could return; {executor/limits.ts requestsPerMinute} requests a minute',
    '{model/limits.ts names} ids for `nodes`; {model/statistics-limits.ts maxStatsDimensions} columns and {model/statistics-limits.ts maxStatsGroups} groups of `issueStats`',
  ],
  'docs/idempotency.md': [
    'has more than {resolvers/writes/idempotency.ts maxResultLength} characters of JSON',
    'kept for {resolvers/writes/idempotency.ts keyLifetimeMs / 3_600_000} hours.',
  ],
  'docs/limits.md': [
    '| the body of a request | {executor/limits.ts maxBodyBytes} bytes; {server/http/request.ts maxVisitorBodyBytes} without a token |',
    '| nesting of JSON, in a body or in variables | {executor/limits.ts maxNesting} |',
    '| values of JSON, in a body or in variables: objects, lists and what they contain | {executor/limits.ts maxJsonValues} |',
    'bytes or with more than {executor/limits.ts maxJsonValues} values with 4400.',
    '| tokens of a document | {executor/limits.ts maxTokens} |',
    '| lines of a document, including empty ones and comments | {executor/limits.ts maxLines} |',
    'sends more than {server/graphql/web-socket-messages.ts maxMessages} messages in a second, pings',
    'a message other than `subscribe` with more than {server/graphql/web-socket-messages.ts maxOtherBytes} bytes',
    'more than {server/graphql/web-socket-unfinished.ts maxUnsignedBytes} bytes in all close it with 4401',
    'A `subscribe` of more than {server/graphql/web-socket-messages.ts smallBytes} bytes',
    'beyond {server/graphql/web-socket-messages.ts bytesASecond} bytes in a second',
    'because {server/graphql/web-socket-refusals.ts maxUnanswered} have no answer yet',
    'waits {server/graphql/web-socket-refusals.ts refusalMs} ms',
    'have taken {server/limits/first-pieces.ts maxMs} ms within ten seconds',
    '| bodies, and messages of WebSockets, that have not arrived completely, together | {server/http/unfinished-bodies.ts maxUnfinishedBytes} bytes;',
    '| characters of a name or an alias in a document | {executor/limits.ts maxNameLength} |',
    '| nesting of literals in a document | {executor/limits.ts maxNesting} |',
    '| depth of its selections, through fragments | {executor/limits.ts maxDepth}; below `__schema` and `__type` {executor/limits.ts maxIntrospectionDepth} |',
    '| directives on one field, fragment, variable or operation | {executor/limits.ts maxDirectives} |',
    '| fields, each fragment counted where it is spread | {executor/limits.ts maxFields} |',
    '| fields of the operation itself | {executor/limits.ts maxRootFields} |',
    '| pages (connections) | {executor/limits.ts maxPages} |',
    '| one name in one selection set | {executor/limits.ts maxRepeats} times |',
    '| cost of an operation | {executor/limits.ts defaultOperationCost} |',
    '| the headers of a request, names and values | {executor/limits.ts maxHeaderBytes} bytes |',
    '| the header `Accept` or `Accept-Encoding` of a request | {server/http/http-rules.ts maxNegotiatedCharacters} characters |',
    '| the headers and the address of a request together | {executor/limits.ts maxHeadBytes} bytes |',
    '| bytes by which chunks (`Transfer-Encoding: chunked`) may lengthen a body | {server/http/read-body.ts maxFramingBytes} more than the body itself |',
    '| items of a list in an argument or a variable | {executor/limits.ts maxListItems};',
    '| conditions of one filter; an empty filter in `and`, `or` and `not` counts as one | {resolvers/filters.ts maxConditions}, of which {resolvers/filters.ts maxRelatedConditions} on related objects |',
    '| values of a list in a filter | {model/limits.ts filterValues} |',
    '| conditions of all filters of an operation | {executor/limits.ts maxFilterConditions} |',
    // As many as a body has bytes.
    '| characters in all its arguments, plus {executor/limits.ts valueCharacters} for each value | {executor/limits.ts maxBodyBytes} |',
    '| values that the answer to one operation could contain | 100,000: {executor/limits.ts valuesPerObject} times its maximum cost |',
    '| values of the schema that the answer to a query of nothing else could contain; the standard query of all tools has 20,000 | {executor/limits.ts maxSchemaValues} |',
    'a list of leaves and a connection count {executor/limits.ts leafListValues} each',
    'a connection count {executor/limits.ts connectionValues} each',
    'For variables longer than {executor/limits.ts longVariables} characters',
    '| bytes of texts and ids that one request reads; bytes of its answer | {executor/limits.ts maxAnswerBytes} each |',
    '| requests that wait for their new document to be [prepared](operations.md#overload-and-deadlines) | {server/limits/document-queue.ts maxWaiting}, with bodies of {server/limits/document-queue.ts maxWaitingBytes / 1_000_000} MB together |',
    '| cost of one event of a subscription | 100: the maximum cost of an operation, divided by {executor/limits.ts eventsPerOperation} |',
    '| the cost of a query that has no plan, so that graphql-js answers it; queries that only read the schema are excepted | {executor/limits.ts maxFallbackCost}, and ten times as many values |',
    '| queries without a plan, which graphql-js answers, at once | {executor/limits.ts maxFallbacks}, and {executor/limits.ts maxWaitingFallbacks} that wait',
    'by its /64 network): {executor/limits.ts unknownTokensPerMinute}, refilled by {executor/limits.ts unknownTokensPerMinute / 60} a second',
    'One operation may cost {executor/limits.ts defaultOperationCost}, or what',
    'A plain list of objects counts {executor/limits.ts plainListCost}, whatever it holds',
    'A refusal names at most {model/limits.ts violations} fields',
    '| `requests` | {executor/limits.ts requestsPerMinute} requests | {executor/limits.ts requestsPerMinute / 60} a second |',
    '| `cost` | {executor/limits.ts costPerHour} objects | {executor/limits.ts costPerHour / 3600} a second |',
    '"requests";q={executor/limits.ts requestsPerMinute};w=60, "cost";q={executor/limits.ts costPerHour};w=3600',
    'for the {server/limits/rate-limit-memory.ts maxCallers} most recent callers',
    'of which a member can have [{model/limits.ts accessTokens} valid ones]',
    'waits for Redis for at most {server/limits/rate-limit-redis.ts commandTimeoutMs} ms',
  ],
  'docs/operations.md': [
    'requests in flight have {cli/serve/stop-limits.ts requests / 1_000} s to finish',
    'The process ends within {cli/serve/stop-limits.ts worker / 1_000} s after `DRAIN_MS`',
    'which signs the addresses of files for {resolvers/attachments/signed-urls.ts signedForMs / 60_000} minutes',
    '| requests in progress (`/graphql`, `/v1/…`) | {server/limits/admission.ts maxConcurrency} |',
    '| waiting to start and for connections, together | {server/limits/admission.ts queueWaitMs} ms |',
    '| the same in an overload | {server/limits/admission.ts overloadWaitMs} ms |',
    '| a new connection | {server/config.ts connectTimeoutMs} ms |',
    '| a request in all | {server/limits/admission.ts requestTimeoutMs} ms |',
    `| sending the headers; sending the body; silence within a file | ${settings.CLIENT_TIMEOUT_MS.default / 1_000} s each`,
    '| requests that wait on one connection for the answer before theirs (pipelining) | {server/http/pipelines.ts maxWaiting},',
    'at once if {server/http/pipelines.ts maxUnanswered} have come, or {server/http/pipelines.ts maxWaitingInAll} wait on all connections',
    '| a new GraphQL document or a body of more than {server/http/request.ts smallBodyBytes / 1_024} KiB,',
    '| `/readyz` | {server/context.ts readinessTimeoutMs} ms |',
    'When the queue has not been empty for {server/limits/admission.ts burstMs / 1_000} s',
    'found valid within the last {reference/memory.ts leaseMs} ms',
    'purged {resolvers/issues/issue-deletion.ts restorableMs / 86_400_000} days after their deletion',
  ],
  'docs/persisted-documents.md': [
    'has room for {executor/limits.ts maxCachedCharacters} characters of text',
    'have room for {executor/limits.ts maxVariantFields} fields together',
  ],
  'docs/reference-data.md': [
    'the write at most {reference/memory.ts leaseMs} ms later',
    'a refusal within the same {reference/memory.ts leaseMs} ms',
    'may be used for {reference/memory.ts leaseMs} ms from',
    'A poll every {reference/memory.ts pollMs} ms renews the leases',
  ],
  'docs/rest.md': [
    'of up to {executor/limits.ts maxBodyBytes} bytes, {executor/limits.ts maxNesting} levels and {executor/limits.ts maxJsonValues} values',
    'a repeatable one {rest-compat/params.ts maxValues} times, or {rest-compat/params.ts maxIds} times if',
    'answers of {server/http/compression.ts worthwhileBytes} bytes and more are sent as',
  ],
  'docs/tokens.md': [
    'refuse it at most {reference/memory.ts leaseMs} ms later',
    'A member can have at most {model/limits.ts accessTokens} valid tokens',
  ],
};

const root = join(import.meta.dirname, '../..');
const all = Object.entries(statements).flatMap(([file, sentences]) =>
  sentences.map((sentence) => [file, sentence] as const),
);

describe('the documentation', () => {
  it.each(all)('%s states the number that the code has: %s', (file, sentence) => {
    expect({ file, says: sentence, found: matches(textOf(file), sentence) }).toEqual({
      file,
      says: sentence,
      found: true,
    });
  });

  it('states each constant of src/executor/limits.ts in a sentence that is checked above', () => {
    const source = textOf('src/executor/limits.ts');
    const names = [...source.matchAll(/(?:const |\b)(\w+)(?: =|:) [\d_]+/g)].map(([, name]) => name);
    const stated = JSON.stringify(statements);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !stated.includes(`{executor/limits.ts ${name}`))).toEqual([]);
  });

  it('states each number of the table of sizes and shapes in a sentence that is checked above', () => {
    const [, section = ''] = /## Size and shape\n([\s\S]*?)\n## /.exec(textOf('docs/limits.md')) ?? [];
    const rows = section.split('\n').filter((line) => /^\|[^|]*\|[^|]*\d/.test(line));
    expect(rows.length).toBeGreaterThan(10);
    const known = ['| operations in a GraphQL request | 1;', ...(statements['docs/limits.md'] ?? [])];
    expect(rows.filter((row) => !known.some((sentence) => matches(row, sentence)))).toEqual([]);
  });

  it('is compared by whole numbers, whether they are written with separators, without, or as a word', () => {
    const sentence = 'up to {executor/limits.ts maxBodyBytes} bytes';
    for (const right of ['up to 1,000,000 bytes', 'so up to\n  1000000 bytes.'])
      expect([right, matches(right, sentence)]).toEqual([right, true]);
    for (const wrong of ['up to 1,000,001 bytes', 'up to 11,000,000 bytes', 'up to 1,000,000,000 bytes'])
      expect([wrong, matches(wrong, sentence)]).toEqual([wrong, false]);
    expect(matches('nested three deep', 'nested {resolvers/filters.ts maxRelations} deep')).toBe(true);
  });
});

/** Each variable of the table of README.md with its documented default, such as `16`, `on` or `1 GiB`. */
const documented = [
  ...textOf('README.md').matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \| ([^|]+) \| [^|]+ \|$/gm),
].flatMap(([, variables = '', defaults = '']) => {
  const values = defaults.split(', ').map(settingOf);
  return variables
    .split(', ')
    .map((variable, index) => [variable.replaceAll('`', ''), values[index]] as const);
});
const withDefault = documented.flatMap(([variable, value]) =>
  value === undefined ? [] : [[variable, value] as const],
);

describe('the settings', () => {
  const standard = readConfig({}, {});

  it('are all in the table of README.md, and no others', () => {
    expect(documented.map(([variable]) => variable).toSorted()).toEqual(settingNames.toSorted());
  });

  it('are all flags of serve', () => {
    const { args = {} } = serveCommand(() => Promise.resolve(undefined));
    const flags = Object.keys(args).filter((flag) => flag !== 'migrate' && flag !== 'demo');
    expect(flags).toEqual(settingNames.map(flagNameOf));
  });

  it.each(withDefault)('%s is %s when it is not set', (variable, value) => {
    expect(readConfig({}, { [variable]: value })).toEqual(standard);
  });

  it.each(withDefault.filter(([, value]) => /^\d+$/.test(value)))(
    '%s changes the settings',
    (variable, value) => {
      const isFraction = settings[variable as SettingName].kind === 'fraction';
      const other = isFraction ? '0.5' : value === '1' ? '2' : String(Number(value) - 1);
      // Not every value is allowed with the embedded database, and some matter only together with others.
      const onServer = {
        DATABASE_URL: 'postgres://a@b/c',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      };
      expect(readConfig({}, { ...onServer, [variable]: other })).not.toEqual(readConfig({}, onServer));
    },
  );

  it('have the same defaults in the help of serve', () => {
    const { args = {} } = serveCommand(() => Promise.resolve(undefined));
    const texts = JSON.stringify(args).matchAll(/\(([A-Z_]+), (\d+|1 GiB|\d+\.[\d.]+|\w+)\)/g);
    const found = [...texts].flatMap(([, variable, value = '']) => {
      const [, known] = withDefault.find(([name]) => name === variable) ?? [];
      return known === undefined ? [] : [[variable, settingOf(value), known]];
    });
    expect(found.length).toBeGreaterThan(15);
    expect(found.filter(([, shown, known]) => shown !== known)).toEqual([]);
  });
});

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The value that a documented default stands for; undefined if it is not a value, such as `none`. */
function settingOf(text: string): string | undefined {
  const plain = text.replaceAll('`', '').trim();
  if (plain === '1 GiB') return String(1024 ** 3);
  const isValue = /^(\d+|\d+\.\d+\.\d+\.\d+|[a-z.]+)$/.test(plain) && plain !== 'none';
  return isValue ? plain : undefined;
}

/** Whether the text contains the sentence with the numbers of the constants. */
function matches(text: string, sentence: string): boolean {
  const pattern = sentence
    .split(/(\{[^}]+\})/)
    .map((part) => (part.startsWith('{') ? numberPattern(constantOf(part)) : escaped(part)))
    .join('');
  return new RegExp(pattern).test(text);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\s+/g, String.raw`\s+`);
}

const words = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

function numberPattern(number: number): string {
  const forms = [number.toLocaleString('en'), String(number), words[number] ?? String(number)];
  return String.raw`(?<![\d,.])(?:${forms.map(escaped).join('|')})(?![\d]|[,.]\d)`;
}

/** The value of a constant of the source, divided if the reference says so. */
function constantOf(reference: string): number {
  const [, file = '', name = '', divisor = '1'] = /^\{(\S+) (\w+)(?: \/ ([\d_]+))?\}$/.exec(reference) ?? [];
  const found = [
    ...textOf(`src/${file}`).matchAll(
      new RegExp(`\\b${name}(?: =|:) ([\\d_]+(?: \\* [\\d_]+)*)[;,\\s]`, 'g'),
    ),
  ];
  const [[, factors = ''] = []] = found;
  if (found.length !== 1) throw new Error(`src/${file} has ${found.length} constants called ${name}.`);
  const value = factors
    .split(' * ')
    .reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
  const number = value / Number(divisor.replaceAll('_', ''));
  // Rates are documented as whole numbers, short times with their fraction.
  return number > 1_000 ? Math.round(number) : number;
}
