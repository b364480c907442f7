import type { FallbackSeen } from './known-fallbacks.ts';

const deliberate = new Set<string>();

/** Lets the rest of a test file cause fallbacks whose message contains this: the test injects the fault itself. */
export function allowFallback(part: string): void {
  deliberate.add(part);
}

export function isDeliberate({ message }: FallbackSeen): boolean {
  return [...deliberate].some((part) => message.includes(part));
}
