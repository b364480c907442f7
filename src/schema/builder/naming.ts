import type { IdPrefix } from '../../resolvers/ids.ts';

/** A kind of thing, as its ids say it. */
export type NamedKind = IdPrefix;

/**
 * What the value of an argument, an input field or a REST parameter names. Whoever takes such a value looks something
 * up by it, so the tests of isolation try there what the caller may not reach.
 */
export interface Naming {
  /** An id; a key or a code, in whose place most take the id too; or a place in a list. */
  by: 'id' | 'key' | 'cursor';
  /** The kind of thing; an id of any kind where none is said. */
  of?: NamedKind | undefined;
}

/** Goes into the extensions of the argument or input field. */
export function naming(by: Naming['by'], of?: NamedKind): { names: Naming } {
  return { names: { by, of } };
}
