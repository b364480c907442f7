import type { ServerResponse } from 'node:http';
import { readEntityTags } from '../rest-compat/entity-tags.ts';
import { chooseCoding, compress } from './compression.ts';

/**
 * Turns the whole body of an answer, whose headers are set, into what this client gets of it: in a coding that it
 * takes, or nothing but 304 when it has it. A tag is strong, so each coding has its own (RFC 9110, 8.8.3.3).
 */
export async function represent(
  res: ServerResponse,
  body: string | Uint8Array,
): Promise<Uint8Array | undefined> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const contentType = String(res.getHeader('Content-Type') ?? '');
  // Who has compressed the body already has chosen for the client.
  const given = res.getHeader('Content-Encoding');
  const chosen = given
    ? undefined
    : chooseCoding(res.req.headers['accept-encoding'], { contentType, bytes: bytes.length });
  vary(res, 'Accept-Encoding');
  tagFor(res, chosen ?? given);
  if (isKnown(res)) {
    res.statusCode = 304;
    res.removeHeader('Content-Type');
    res.removeHeader('Content-Encoding');
    // Who has the answer has its links (RFC 9110, 15.4.5).
    res.removeHeader('Link');
    return undefined;
  }
  if (!chosen) return bytes;
  res.setHeader('Content-Encoding', chosen);
  return compress(chosen, bytes);
}

/** Adds the name of a request header to those that the answer depends on. */
export function vary(res: ServerResponse, name: string): void {
  res.setHeader('Vary', withName(String(res.getHeader('Vary') ?? ''), name));
}

/** What has been put together before: answers of a kind depend on the same names. */
const lists = new Map<string, string>();
const maxLists = 100;

function withName(list: string, name: string): string {
  const both = `${list}\n${name}`;
  const known = lists.get(both);
  if (known !== undefined) return known;
  const names = list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const has = names.some((one) => one === '*' || one.toLowerCase() === name.toLowerCase());
  const made = has ? list : [...names, name].join(', ');
  if (lists.size < maxLists) lists.set(both, made);
  return made;
}

function tagFor(res: ServerResponse, coding: number | string | readonly string[] | undefined): void {
  const tag = res.getHeader('ETag');
  if (coding === undefined || typeof tag !== 'string') return;
  res.setHeader('ETag', tag.replace(/^"(.*)"$/, `"$1-${String(coding)}"`));
}

/** Does an If-None-Match, which is looked at on reads alone, name the answer; a header that cannot be read does not. */
function isKnown(res: ServerResponse): boolean {
  const { method, headers } = res.req;
  const tag = res.getHeader('ETag');
  const asked = headers['if-none-match'];
  if (asked === undefined || typeof tag !== 'string' || res.statusCode !== 200) return false;
  if (method !== 'GET' && method !== 'HEAD') return false;
  const tags = readEntityTags(asked);
  return tags === '*' || (tags?.some(({ opaque }) => `"${opaque}"` === tag.replace(/^W\//, '')) ?? false);
}
