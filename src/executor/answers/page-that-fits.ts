import { renewAllowance } from '../../db/engine/meter.ts';
import { ReadAllowance } from '../../db/engine/read-allowance.ts';
import { maxAnswerBytes } from '../limits.ts';
import { isAnswerTooLarge } from './errors.ts';
import type { OperationResult } from './idempotent.ts';

/**
 * Reads a page of `size` rows. As long as the answer is too large, because the texts of the rows are long, the page is read again
 * with half as many rows, down to one.
 */
export async function readPageThatFits(
  size: number,
  read: (rows: number) => Promise<OperationResult>,
): Promise<OperationResult> {
  for (let rows = size; ; rows = Math.ceil(rows / 2)) {
    const result = await read(rows);
    if (rows === 1 || !result.errors?.some(isAnswerTooLarge)) return result;
    renewAllowance(new ReadAllowance(maxAnswerBytes));
  }
}
