import { LRUCache } from 'lru-cache';

/**
 * A cache that forgets the least recently used entry when it has more than `maxEntries`. Its memory grows with its
 * entries: the option `max` would reserve all of it at once, 4 MB for 100,000 entries.
 */
export function recentlyUsed<Value extends object | number>(maxEntries: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
