import { renewAllowance } from '../../db/engine/meter.ts';
import { ReadAllowance } from '../../db/engine/read-allowance.ts';
import { maxAnswerBytes } from '../limits.ts';
import { sizeErrorOf } from './errors.ts';
import type { OperationResult } from './idempotent.ts';

/**
 * Reads a page of `size` rows. As long as the answer is too large, because the texts of the rows are long, the page is read again
 * with fewer rows, down to one: with those that fit if their number is known, as the compiled executor knows it, otherwise with half.
 */
export async function readPageThatFits(
  size: number,
  read: (rows: number) => Promise<OperationResult>,
): Promise<OperationResult> {
  let rows = size;
  for (;;) {
    const result = await read(rows);
    const [refusal] = (result.errors ?? []).flatMap((error) => sizeErrorOf(error) ?? []);
    if (rows === 1 || !refusal) return result;
    const { rowsThatFit = Math.ceil(rows / 2) } = refusal;
    rows = Math.max(1, Math.min(rowsThatFit, rows - 1));
    renewAllowance(new ReadAllowance(maxAnswerBytes));
  }
}
