import { AnswerTooLargeError } from '../../../db/engine/read-allowance.ts';
import { maxAnswerBytes } from '../../limits.ts';

/** Throws AnswerTooLargeError when an answer has too many bytes. */
export function checkAnswerSize(bytes: number): void {
  if (bytes > maxAnswerBytes) throw new AnswerTooLargeError();
}
