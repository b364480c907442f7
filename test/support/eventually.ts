import { setTimeout as delay } from 'node:timers/promises';

/** Waits until the condition is true. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}
