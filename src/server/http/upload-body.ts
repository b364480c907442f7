import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Upload } from '../../resolvers/attachments/attachment-uploads.ts';
import { Framing, nextChunk } from './read-body.ts';

/** How long an upload may take in total. */
const withinMs = 50 * 60_000;

/** The body of an upload, which is read at the speed at which it can be stored. */
export function openUpload(req: IncomingMessage, res: ServerResponse, silenceMs: number): Upload {
  const length = req.headers['content-length'];
  return {
    contentLength: length === undefined ? undefined : Number(length),
    isReplacement: req.headers['if-match'] !== undefined,
    open: () => read(req, res, silenceMs),
  };
}

async function* read(
  req: IncomingMessage,
  res: ServerResponse,
  silenceMs: number,
): AsyncGenerator<Uint8Array> {
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
  const untilMs = performance.now() + withinMs;
  const chunks = req.iterator({ destroyOnReturn: false });
  const framing = new Framing(req);
  let taken = 0;
  for (;;) {
    const chunk = await nextChunk(chunks, Math.min(silenceMs, untilMs - performance.now()));
    if (!chunk) return;
    taken += chunk.length;
    framing.check(taken);
    yield chunk;
  }
}
