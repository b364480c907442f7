import { randomBytes } from 'node:crypto';

/** The position of a request in a trace that its caller or this server began. */
export interface Trace {
  /** For log lines: the trace, the span of the caller, and the span of this request. */
  readonly logged: { readonly traceId: string; readonly parentId?: string; readonly spanId: string };
  /** The value of the header `traceresponse`, which informs the caller of the span of this request. */
  readonly response: string;
  /** Whether the spans of the trace are recorded. */
  readonly isSampled: boolean;
}

const traceparentPattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads `traceparent` (W3C Trace Context). Undefined when it is missing or invalid. */
export function traceOf(header: string | string[] | undefined): Trace | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags, extra] = traceparentPattern.exec(header) ?? [];
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || extra === undefined);
  if (!isKnown || /^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  const spanId = randomBytes(8).toString('hex');
  const isSampled = (Number.parseInt(flags ?? '', 16) & 1) === 1;
  return {
    logged: { traceId, parentId, spanId },
    response: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
    isSampled,
  };
}
