import { unexpectedAnswerError } from './errors.ts';

type Answer = Pick<Response, 'status' | 'headers'>;
type JsonObject = Readonly<Record<string, unknown>>;

/** The media types of workgraph's answers, except of files. */
const jsonType = /\bjson\b/i;
const workgraphTypes = /\b(?:json|csv|event-stream)\b/i;

/** Throws unless an answer has a media type that workgraph sends, or JSON if `mustBeJson`. Other types come from proxies. */
export async function requireMediaType(response: Response, mustBeJson: boolean): Promise<void> {
  const type = response.headers.get('Content-Type') ?? '';
  if ((mustBeJson ? jsonType : workgraphTypes).test(type)) return;
  await response.body?.cancel();
  throw unexpectedAnswerError(response);
}

/** Parses an answer or an event. Every JSON answer of workgraph is an object. */
export function parseJsonObject(text: string, response: Answer): JsonObject {
  const value = parseJson(text, response);
  if (!isObject(value)) throw unexpectedAnswerError(response);
  return value;
}

export function parseJson(text: string, response: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unexpectedAnswerError(response, { cause });
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
