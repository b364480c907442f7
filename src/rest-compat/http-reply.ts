import type { Readable } from 'node:stream';
import type { EarlierAnswer } from '../executor/answers/revalidation.ts';
import type { EventStream } from './event-chunks.ts';

/** An answer as HTTP. The server adds the headers that all answers have. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable;
  /** Set if the body is a buffer that is sent again and again, so that its compressed forms are cached with it. */
  readonly isConstant?: boolean | undefined;
  /** The length of a body that the client already has, which is not sent again. */
  readonly unchangedBytes?: number;
  /** A stream of events in place of a body. */
  readonly events?: EventStream;
  /** Called when the body has been sent, and not when sending it fails. */
  readonly onSent?: () => void;
}

/** The reply to a client that has this answer. The server makes it a 304. */
export function unchangedReply({ headers, bytes: unchangedBytes }: EarlierAnswer): HttpReply {
  return { status: 200, headers, unchangedBytes };
}
