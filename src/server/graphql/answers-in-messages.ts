import { randomUUID } from 'node:crypto';
import type { ExecutionResult } from 'graphql';

/**
 * Puts answers, which are JSON already, into the messages of graphql-ws. The library prints values, so an answer would have to be
 * parsed only to be printed again, which blocks the event loop for a third of a second if it has 10 MB. Instead, the library gets a
 * value that it prints as a mark, and the mark is replaced with the answer.
 */
export class AnswersInMessages {
  readonly #mark = randomUUID();
  /** The answer whose mark the library has just printed. It sends the message without waiting for anything in between. */
  #printed: string | Uint8Array | undefined;

  /** The value that stands for an answer until its message is sent. */
  valueOf(json: string | Uint8Array): ExecutionResult {
    const value: ExecutionResult & { toJSON: () => string } = {
      toJSON: () => {
        this.#printed = json;
        return this.#mark;
      },
    };
    return value;
  }

  /** A message that the library has printed, with the answer in place of the mark, which is the last of its values. */
  complete(message: string): string | Uint8Array {
    const json = this.#printed;
    if (json === undefined) return message;
    this.#printed = undefined;
    const before = message.slice(0, -JSON.stringify(this.#mark).length - 1);
    return typeof json === 'string'
      ? `${before}${json}}`
      : Buffer.concat([Buffer.from(before), json, Buffer.from('}')]);
  }
}
