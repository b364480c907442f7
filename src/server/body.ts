import type { IncomingMessage, ServerResponse } from 'node:http';
import { raise } from '../resolvers/errors.ts';

/** The largest body of a request, in bytes. */
export const maxBodyBytes = 1_000_000;

/** How long a client may go on sending what is no longer read, so that it sees the answer. */
const discardMs = 2_000;

/** Reads a body as it comes in, and no further than the limit: throws `payload_too_large`. */
export async function readBody(req: IncomingMessage, res: ServerResponse): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) refuse(req, res);
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > maxBodyBytes) refuse(req, res);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Closing at once would reset the connection and lose the answer: the rest is thrown away for a while. */
function refuse(req: IncomingMessage, res: ServerResponse): never {
  res.shouldKeepAlive = false;
  req.resume();
  setTimeout(() => req.destroy(), discardMs).unref();
  raise('payload_too_large', `The body is larger than ${maxBodyBytes.toLocaleString('en')} bytes.`);
}
