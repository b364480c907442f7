import type { Fallback } from '../../src/executor/run/fallbacks.ts';

const deliberate = new Set<string>();

/** Permits fallbacks whose message contains this text, for test files that inject a fault on purpose. */
export function allowFallback(text: string): void {
  deliberate.add(text);
}

export function isDeliberate({ message }: Fallback): boolean {
  return [...deliberate].some((text) => message.includes(text));
}
