import { type IdPrefix, idPrefixes } from '../../resolvers/ids.ts';

/** A kind of object, by the prefix of its ids. */
export type NamedKind = IdPrefix;

export const namedKinds: readonly NamedKind[] = idPrefixes;

/**
 * The kind of object that the value of an argument, an input field or a REST parameter identifies. The server looks the
 * object up, so the isolation tests send each such value with an object that the caller may not access.
 */
export interface Naming {
  /** An id; a key or a code (most of them may be replaced by the id); or a cursor. */
  by: 'id' | 'key' | 'cursor';
  /** The kind of object; undefined for an id of any kind. */
  of?: NamedKind | undefined;
}

/** The extensions of an argument or an input field that declare its naming. */
export function naming(by: Naming['by'], of?: NamedKind): { names: Naming } {
  return { names: { by, of } };
}
