import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { collectFields } from '@graphql-tools/utils';
import { type DocumentNode, type ExecutionResult, print } from 'graphql';
import type { KeyName, NewKey } from '../../db/idempotency.ts';
import { type SignedIn, requireSignedIn } from '../../resolvers/context.ts';
import { raise } from '../../resolvers/errors.ts';
import { storeAnswer, type OnceResult, runOnce, runUnderKey } from '../../resolvers/writes/idempotency.ts';
import { type KeyedWrite, NeedsTransaction } from '../../resolvers/writes/keyed-write.ts';
import { type DeclaredExtensions, extensionsOf } from '../../schema/builder/output-extensions.ts';
import { showsOnlyWritten } from '../compiled/run/executor.ts';
import type { WrittenAnswer } from '../compiled/writing/json-writer.ts';
import { isOutage, rootOf } from './errors.ts';
import type { OperationContext } from '../run/execute.ts';
import type { CoercedOperation } from '../selections/operation.ts';

/**
 * The result of an operation. `replayed` is set when it ran before under the same key; `json` is the body of the reply with
 * the data, where that was asked for.
 */
export type OperationResult = ExecutionResult & { readonly replayed?: true; readonly json?: WrittenAnswer };

/** The key of a request. Node combines several headers into a list, which is not a valid key. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  return headers['idempotency-key']?.toString();
}

/** The headers of a reply with a kept result. */
export function replayedHeaders(replayed: true | undefined): Record<string, string> {
  return replayed ? { 'Idempotency-Replayed': 'true' } : {};
}

/** The pattern of a valid key, and the rule in the words that clients see. */
export const keyPattern = /^[!-~]{1,255}$/;
export const keyRule = 'must be 1 to 255 visible ASCII characters';

/** A mutation with an Idempotency-Key. */
interface KeyedMutation extends CoercedOperation {
  readonly document: DocumentNode;
  readonly key: string;
}

/**
 * Runs a mutation and stores its result under its key, or returns the stored result. Where one statement does the write, that
 * statement stores the key, and the answer is added afterwards. Any other mutation runs in one transaction with its key, and an
 * error in any of its fields undoes all of it.
 */
export function executeOnce(
  mutation: KeyedMutation,
  context: OperationContext,
  run: Execution,
): Promise<OperationResult> {
  const { storesKey, isRepeatableBySameTokenOnly } = checkedField(mutation);
  const mayBeOneStatement = storesKey && context.executor !== 'graphql-js' && showsOnlyWritten(mutation);
  const signed = requireSignedIn(context);
  const { scopes, tokenId } = signed.principal;
  const repeatedBy = isRepeatableBySameTokenOnly ? tokenId : [...scopes].toSorted();
  return runUnderKey(
    signed,
    { key: mutation.key, requestHash: hashOf(mutation, repeatedBy) },
    async (key) => {
      const done = mayBeOneStatement ? await byOneStatement(key, signed, run) : undefined;
      return done ?? inOneTransaction(key, signed, run);
    },
  );
}

/** Runs the mutation in a context. */
type Execution = (context: OperationContext) => Promise<ExecutionResult>;

/**
 * Does the write by one statement. Returns undefined if that could not be done; a transaction then finds the reason or does the
 * write.
 */
async function byOneStatement(
  key: NewKey,
  context: SignedIn & OperationContext,
  run: Execution,
): Promise<OperationResult | undefined> {
  const keyed: KeyedWrite = { key, isDone: false };
  let result: ExecutionResult;
  try {
    result = await run({ ...context, keyed });
  } catch (error) {
    if (error instanceof NeedsTransaction) return undefined;
    throw error;
  }
  if (keyed.isDone) {
    if (!result.errors) await addAnswer(key, context, result);
    return result;
  }
  return result.errors?.some(isOutage) ? result : undefined;
}

/** Adds the answer to its key. The write is done, so its answer does not fail with this. */
async function addAnswer(
  key: KeyName & Pick<NewKey, 'createdUtc'>,
  context: SignedIn & OperationContext,
  { data }: ExecutionResult,
): Promise<void> {
  try {
    await storeAnswer(context, key, data);
  } catch (error) {
    context.report?.(error);
  }
}

async function inOneTransaction(
  key: NewKey,
  context: SignedIn & OperationContext,
  run: Execution,
): Promise<OperationResult> {
  let failed: { cause: unknown; result: ExecutionResult } | undefined;
  let kept: OnceResult;
  try {
    kept = await runOnce(context, key, async (inside) => {
      const answer = await run(inside);
      if (!answer.errors) return answer.data;
      // The first error caused the others. It is thrown unchanged, so that `inTransaction` recognizes a conflict and runs again.
      failed = { cause: rootOf(answer.errors[0]), result: answer };
      throw failed.cause;
    });
  } catch (error) {
    if (failed && error === failed.cause) return failed.result;
    throw error;
  }
  if ('result' in kept)
    return {
      data: kept.result as ExecutionResult['data'],
      ...(kept.replayed && { replayed: true as const }),
    };
  const { written, createdUtc } = kept;
  const result = await run({ ...context, earlierRow: written });
  if (!result.errors) await addAnswer({ ...key, createdUtc }, context, result);
  return { ...result, replayed: true };
}

/** What the mutation declares about keys. Refuses a key that is malformed or that the operation does not take. */
function checkedField(
  mutation: KeyedMutation,
): Pick<DeclaredExtensions, 'storesKey' | 'isRepeatableBySameTokenOnly'> {
  if (!keyPattern.test(mutation.key)) refuse(keyRule);
  const type =
    mutation.schema.getMutationType() ?? raise('internal_error', 'The schema has no mutation type.');
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
    return refuse('needs an operation with exactly one mutation: send the others separately');
  const field = type.getFields()[name];
  const declared = field ? extensionsOf(field) : {};
  if (declared.takesNoKey !== undefined) refuse(`is not taken by ${name}: ${declared.takesNoKey}`);
  return declared;
}

function refuse(message: string): never {
  raise('invalid_request', `Idempotency-Key: ${message}.`, [{ field: 'Idempotency-Key', message }]);
}

/**
 * Equal for requests with equal documents and variables, however those were formatted, by tokens that may repeat each other's requests.
 * `repeatedBy` identifies those tokens: by their scopes, because the answer may show what other scopes do not cover, or by the id of
 * the only one.
 */
function hashOf({ document, operation, variables }: KeyedMutation, repeatedBy: string | string[]): Buffer {
  const hashed = [textOf(document), operation.name?.value ?? '', variables, repeatedBy];
  return createHash('sha256').update(JSON.stringify(hashed, withSortedKeys)).digest();
}

const texts = new WeakMap<DocumentNode, string>();

function textOf(document: DocumentNode): string {
  const known = texts.get(document);
  if (known !== undefined) return known;
  const text = print(document);
  texts.set(document, text);
  return text;
}

function withSortedKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
