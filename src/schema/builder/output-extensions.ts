import type { GraphQLField } from 'graphql';
import type { Context } from '../../resolvers/context.ts';
import type { MutationEvents } from './mutation.ts';
import type { Plan } from './plan.ts';
import type { Need, ScopeNeed } from './scopes.ts';

/** A read for a field that must come before all other statements of the operation. Returns properties to add to the context. */
export type FirstRead = (context: Context) => Promise<Partial<Context>>;

/**
 * What the declaration of an output field says about it, besides its type and its plan. Functions of the arguments are methods,
 * so that each field can name the arguments that it has.
 */
export interface DeclaredExtensions {
  /** The maximum number of objects that it returns, by its arguments. */
  rows?(this: void, args: object): number;
  /** Its rows are periods, whose number `first` does not limit. */
  readonly periods?: true;
  /** Set if it counts rows within bounds: it may take as long as reading so many pages of a filtered list. */
  readonly readsLikePages?: number;
  /** What its arguments need, such as the scope of the type of an id. */
  needsOfArguments?(this: void, args: Record<string, unknown>): readonly Need[];
  readonly firstRead?: FirstRead;
  /** It reads the log of changes, of which a replica may not have the newest rows yet. */
  readonly readsLog?: true;
  /** Whether it waits for something to happen, which may take much longer than reading. Only fields of `Query` may. */
  waits?(this: void, args: object): boolean;
  /** Its value depends only on tables that the position of the data covers, see `coveredByPosition`. */
  readonly isCoveredByPosition?: true;
  /** The statement of the mutation also stores the Idempotency-Key. */
  readonly storesKey?: boolean;
  /** Whether only the same token may repeat the mutation, because its answer may show what other tokens of the member may not read. */
  readonly isRepeatableBySameTokenOnly?: true;
  /** Why the mutation takes no Idempotency-Key. */
  readonly takesNoKey?: string;
  /** The events that the mutation leaves in the log of changes, or why there are none. */
  readonly events?: MutationEvents;
}

/** The extensions of an output field of the schema. */
interface OutputExtensions extends DeclaredExtensions {
  /** How the field is answered; undefined for a column of its row, and for the fields of connections. */
  readonly plan?: Plan;
  /** The column of the row that the field shows. */
  readonly pothosExposedField?: string;
  readonly scope?: ScopeNeed;
}

export function extensionsOf({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): OutputExtensions {
  return extensions as OutputExtensions;
}
