import { notOfWorkgraph } from './errors.ts';

type Answer = Pick<Response, 'status' | 'headers'>;
type JsonObject = Readonly<Record<string, unknown>>;

/** The media types of what workgraph answers, files aside. */
const jsonType = /\bjson\b/i;
const workgraphTypes = /\b(?:json|csv|event-stream)\b/i;

/** Throws unless an answer has a media type that workgraph sends, JSON if that was asked for. Others are pages of proxies. */
export async function checkType(response: Response, mustBeJson: boolean): Promise<void> {
  const type = response.headers.get('Content-Type') ?? '';
  if ((mustBeJson ? jsonType : workgraphTypes).test(type)) return;
  await response.body?.cancel();
  throw notOfWorkgraph(response);
}

/** Parses an answer or an event of it. All that workgraph answers in JSON are objects. */
export function objectOf(text: string, response: Answer): JsonObject {
  const value = valueOf(text, response);
  if (!isObject(value)) throw notOfWorkgraph(response);
  return value;
}

export function valueOf(text: string, response: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notOfWorkgraph(response, { cause });
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
