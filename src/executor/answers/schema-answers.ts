import type { DocumentNode, ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import { documentNumber } from '../documents/number.ts';
import type { CoercedOperation } from '../selections/operation.ts';
import type { OperationResult } from './idempotent.ts';

/** How many bytes of answers and their keys are cached, and of one of them at most. The standard query has 400 kB. */
const maxCachedBytes = 4_000_000;
const maxEntryBytes = 1_000_000;

interface SchemaAnswer {
  readonly bytes: Buffer;
  /** The number of objects in it. */
  readonly objects: number;
}

const cached = new LRUCache<string, SchemaAnswer>({
  maxSize: maxCachedBytes,
  maxEntrySize: maxEntryBytes,
  // A character may take two bytes, and variables that the document does not use may be as long as a request.
  sizeCalculation: ({ bytes }, key) => bytes.length + 2 * key.length,
});

/**
 * The answer to a query that selects nothing but the schema, which does not change while the process runs. Executing the standard query of
 * introspection takes tens of milliseconds in which nothing else runs, and clients without a token may send it.
 */
export async function answerFromSchema(
  { document, operation, variables }: CoercedOperation & { readonly document: DocumentNode },
  count: (data: unknown) => number,
  execute: () => Promise<ExecutionResult>,
): Promise<OperationResult & { objects?: number }> {
  const key = `${documentNumber(document)} ${operation.name?.value ?? ''} ${JSON.stringify(variables)}`;
  const known = cached.get(key);
  if (known) return resultOf(known);
  const result = await execute();
  if (result.errors) return result;
  const answer = { bytes: Buffer.from(JSON.stringify({ data: result.data })), objects: count(result.data) };
  cached.set(key, answer);
  return resultOf(answer);
}

function resultOf({ bytes, objects }: SchemaAnswer): OperationResult & { objects: number } {
  return { json: { bytes, release: () => undefined, isConstant: true }, objects };
}
