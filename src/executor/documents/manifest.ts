import { createHash } from 'node:crypto';
import { type DocumentNode, Kind, parse } from 'graphql';
import { z } from 'zod';

/** The texts of documents by their ids. */
export type Manifest = ReadonlyMap<string, string>;

/** A SHA-256 as ids and Apollo's protocol write it. */
export const hexHash = /^[0-9a-f]{64}$/;

/** The identifiers of the draft "Persisted Documents" of GraphQL over HTTP. */
const idPattern = /^(?:sha256:[0-9a-f]{64}|x-[\w.~-]+:[\w.~-]+|[\w.~-]+)$/;

/** The id under which a document is stored, without `sha256:`; undefined for a text that is not an id. */
export function documentIdOf(text: string): string | undefined {
  return idPattern.test(text) ? text.replace(/^sha256:/, '') : undefined;
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Apollo's format, which `printManifest` writes. */
const format = 'apollo-persisted-query-manifest';
const operations = z.object({
  format: z.literal(format),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

/** The format of GraphQL codegen and Relay: an object of ids and texts. */
const pairs = z.record(z.string(), z.string());

/** Reads either format; throws a ManifestError with all problems. */
export function parseManifest(json: string): Manifest {
  const parsed = z.union([operations, pairs]).safeParse(jsonOf(json));
  if (!parsed.success) {
    const message = `is neither in the format ${format}, version 1, nor an object of ids with their documents`;
    throw new ManifestError([message]);
  }
  const { data } = parsed;
  const entries: readonly (readonly [string, string])[] = isOperations(data)
    ? data.operations.map(({ id, body }) => [id, body])
    : Object.entries(data);
  const manifest = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, text] of entries) {
    const id = documentIdOf(name);
    if (id === undefined) problems.push(`has an id that no request can name: ${JSON.stringify(name)}`);
    else if (hexHash.test(id) && hashOf(text) !== id) problems.push(`has another text than that of ${name}`);
    else if ((manifest.get(id) ?? text) !== text) problems.push(`has two documents with the id ${name}`);
    else manifest.set(id, text);
  }
  if (problems.length > 0) throw new ManifestError(problems);
  return manifest;
}

function isOperations(
  data: z.infer<typeof operations> | z.infer<typeof pairs>,
): data is z.infer<typeof operations> {
  return Array.isArray(data.operations);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ManifestError(['is not JSON']);
  }
}

/** Why a manifest cannot be used; each problem continues a sentence that begins with its name. */
export class ManifestError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ManifestError';
    this.problems = problems;
  }
}

/** A manifest of documents, each under its hash, ordered by their names. */
export function printManifest(texts: readonly string[]): string {
  const entries = texts.map((body) => ({ id: hashOf(body), ...titleOf(parse(body)), body }));
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return `${JSON.stringify({ format, version: 1, operations: sorted }, null, 2)}\n`;
}

/** The title of a document: the names of all its operations, and the type of the first. */
function titleOf({ definitions }: DocumentNode): { name: string; type: string } {
  const found = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return {
    name: found.map(({ name }) => name?.value ?? 'anonymous').join(','),
    type: found[0]?.operation ?? 'query',
  };
}
