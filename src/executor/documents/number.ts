import type { DocumentNode } from 'graphql';

const numbers = new WeakMap<DocumentNode, number>();
let count = 0;

/**
 * A number that identifies a document in this process. Subscriptions with equal texts share a document, and so its number, while a
 * stream uses it.
 */
export function documentNumber(document: DocumentNode): number {
  const known = numbers.get(document);
  if (known !== undefined) return known;
  count += 1;
  numbers.set(document, count);
  return count;
}
