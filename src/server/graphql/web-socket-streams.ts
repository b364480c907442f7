import type { ExecutionResult } from 'graphql';
import type { AdmissionTicket } from '../limits/admission.ts';
import type { AnswersInMessages } from './answers-in-messages.ts';
import { errorsIn } from './web-socket-answers.ts';
import { closeCodes } from './web-socket-close-codes.ts';
import type { WebSocketSender } from './web-socket-sender.ts';

// Streams of events as messages of a WebSocket.

type Events = AsyncIterable<string | Uint8Array>;

/** The connection that receives a stream. */
interface Receiver {
  readonly sender: WebSocketSender;
  readonly answers: AnswersInMessages;
}

/**
 * The answers in a stream of events. If the server ends a stream without `complete`, the client should open it again. The
 * connection is then closed, because the message `complete` would say that there is no more. A stream that the client has
 * completed leaves the connection to the others.
 */
export function answersOf(
  { sender, answers }: Receiver,
  events: Events,
  ticket: AdmissionTicket,
  onEnd: () => void,
): AsyncGenerator<ExecutionResult> {
  let hasEnded = false;
  const results = resultsIn(events, answers, {
    onBroken: () => {
      if (!hasEnded) sender.close(closeCodes.goingAway, 'Going away');
    },
    onRefused: () => sender.refuse(),
  });
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    // Ends the wait of a stream whose client has gone.
    ticket.deadline.abort();
    onEnd();
  };
  return {
    next: async () => {
      const next = await results.next();
      if (next.done) end();
      return next;
    },
    return: async (value) => {
      end();
      return results.return(value);
    },
    throw: async (error) => {
      end();
      return results.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => end(),
  };
}

const dataField = 'data: ';

/**
 * Reads the events of a stream, as `chunkOf` writes them. Calls `onBroken` if it ends without `complete`, and `onRefused` if it ends
 * because its token is refused.
 */
async function* resultsIn(
  events: Events,
  answers: AnswersInMessages,
  { onBroken, onRefused }: { onBroken: () => void; onRefused: () => void },
): AsyncGenerator<ExecutionResult> {
  let text = '';
  let isRefused = false;
  const decoder = new TextDecoder();
  for await (const piece of events) {
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      if (lines.includes('event: complete')) {
        if (isRefused) onRefused();
        return;
      }
      const data = lines.find((line) => line.startsWith(dataField));
      if (data === undefined) continue;
      const json = data.slice(dataField.length);
      isRefused = isRefusal(json);
      yield answers.valueOf(json);
    }
  }
  onBroken();
}

/** Whether an answer says that the token is not valid any more. Answers begin with their errors, so others need not be parsed. */
function isRefusal(json: string): boolean {
  if (!json.startsWith('{"errors":')) return false;
  return errorsIn(json).some(({ extensions }) => extensions?.['code'] === 'UNAUTHENTICATED');
}
