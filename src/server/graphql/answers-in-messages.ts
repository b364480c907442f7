import { randomUUID } from 'node:crypto';
import type { ExecutionResult } from 'graphql';

/**
 * Puts answers, which are JSON already, into the messages that the library prints. It takes values, so answers would be parsed only to
 * be printed again, and one of 10 MB would stop everything else for a third of a second. Instead, the library prints a mark.
 */
export class AnswersInMessages {
  readonly #mark = randomUUID();
  /** The answer for which the library has printed the mark. It sends the message in the same turn of the event loop. */
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
