import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { collectFields } from '@graphql-tools/utils';
import { type DocumentNode, type ExecutionResult, print } from 'graphql';
import { signedIn } from '../resolvers/context.ts';
import { raise } from '../resolvers/errors.ts';
import { once } from '../resolvers/writes/idempotency.ts';
import type { WrittenAnswer } from './compiled/json-writer.ts';
import { rootOf } from './errors.ts';
import type { OperationContext } from './execute.ts';
import type { ScopedOperation } from './scope-rule.ts';

/**
 * The result of an operation. `replayed` is set when it ran before under the same key; `json` is the response body with
 * the data, where that was asked for.
 */
export type OperationResult = ExecutionResult & { readonly replayed?: true; readonly json?: WrittenAnswer };

/** The key of a request. Several headers are joined to a list, which is not a valid key. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  return headers['idempotency-key']?.toString();
}

/** The headers of a response with a kept result. */
export function replayedHeaders(replayed: true | undefined): Record<string, string> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : {};
}

/** The form of a key, and the rule as clients read it. */
export const keyForm = /^[!-~]{1,255}$/;
export const keyRule = 'must be 1 to 255 visible ASCII characters';

/** A mutation with an Idempotency-Key. */
export interface KeyedMutation extends ScopedOperation {
  readonly document: DocumentNode;
  readonly key: string;
}

/**
 * Runs a mutation and keeps its result in one transaction, or returns the kept result. An error in any of its fields
 * undoes all of it.
 */
export async function executeOnce(
  mutation: KeyedMutation,
  context: OperationContext,
  run: (context: OperationContext) => Promise<ExecutionResult>,
): Promise<OperationResult> {
  checkKey(mutation);
  const request = { key: mutation.key, requestHash: hashOf(mutation) };
  let failed: { cause: unknown; result: ExecutionResult } | undefined;
  try {
    const { result, replayed } = await once(signedIn(context), request, async (inside) => {
      const answer = await run(inside);
      if (!answer.errors) return answer.data;
      // The first error caused the others. It is thrown unchanged, so that `once` recognises a lost race and runs again.
      failed = { cause: rootOf(answer.errors[0]), result: answer };
      throw failed.cause;
    });
    return { data: result as ExecutionResult['data'], ...(replayed && { replayed: true as const }) };
  } catch (error) {
    if (failed && error === failed.cause) return failed.result;
    throw error;
  }
}

function checkKey(mutation: KeyedMutation): void {
  if (!keyForm.test(mutation.key)) refuse(keyRule);
  const type = mutation.schema.getMutationType() ?? raise('internal_error', 'There are mutations.');
  const { fields } = collectFields(
    mutation.schema,
    Object.fromEntries(mutation.fragments),
    { coerced: mutation.variables, sources: {} },
    type,
    mutation.operation.selectionSet,
  );
  const names = [...fields.values()].flatMap(([node]) => node?.name.value ?? []);
  const [name, second] = names.filter((each) => !each.startsWith('__'));
  if (name === undefined || second !== undefined)
    return refuse('goes with an operation of exactly one mutation: send others on their own');
  const { takesNoKey } = (type.getFields()[name]?.extensions ?? {}) as { takesNoKey?: string };
  if (takesNoKey !== undefined) refuse(`is not taken by ${name}: ${takesNoKey}`);
}

function refuse(message: string): never {
  raise('invalid_request', `Idempotency-Key: ${message}.`, [{ field: 'Idempotency-Key', message }]);
}

/** Equal for requests with equal documents and variables, however those were formatted. */
function hashOf({ document, operation, variables }: KeyedMutation): Buffer {
  const asked = [textOf(document), operation.name?.value ?? '', variables];
  return createHash('sha256').update(JSON.stringify(asked, inOrder)).digest();
}

const texts = new WeakMap<DocumentNode, string>();

function textOf(document: DocumentNode): string {
  const known = texts.get(document);
  if (known !== undefined) return known;
  const text = print(document);
  texts.set(document, text);
  return text;
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
