import { AnswerTooLargeError } from '../../db/engine/read-allowance.ts';
import { maxAnswerBytes } from '../limits.ts';

/** Throws when an answer of so many bytes is too large. */
export function checkAnswerSize(bytes: number): void {
  if (bytes > maxAnswerBytes) throw new AnswerTooLargeError();
}
