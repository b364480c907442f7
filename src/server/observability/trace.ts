import { randomBytes } from 'node:crypto';

/** The place of a request in a trace that began before it. */
export interface Trace {
  /** For log lines: which trace, what called, and this request's own part of it. */
  readonly logged: { readonly traceId: string; readonly parentId: string; readonly spanId: string };
  /** The value of `traceresponse`, by which the caller finds that part. */
  readonly response: string;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads `traceparent` as W3C Trace Context says; undefined, as if there were none, for what that calls invalid. */
export function traceOf(header: string | string[] | undefined): Trace | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags, more] = form.exec(header) ?? [];
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isKnown || /^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  const spanId = randomBytes(8).toString('hex');
  const sampled = (Number.parseInt(flags ?? '', 16) & 1).toString().padStart(2, '0');
  return { logged: { traceId, parentId, spanId }, response: `00-${traceId}-${spanId}-${sampled}` };
}
