import { hash } from 'node:crypto';

/** A tag in a conditional request (RFC 9110, 8.8.3). */
interface EntityTag {
  readonly weak: boolean;
  /** The text between the quotes. */
  readonly opaque: string;
}

/**
 * The tag of an answer: the revision of the resource, if it has one, and a hash of the body. The body contains names of
 * other resources and depends on the caller, so the revision alone is not enough.
 */
export function entityTag(body: string | Uint8Array, revision: number | undefined): string {
  const bodyHash = hash('sha1', body, 'base64url');
  return revision === undefined ? `"${bodyHash}"` : `"r${revision}-${bodyHash}"`;
}

/** The revision in a tag; undefined for the tags of lists, and for tags that this service has not created. */
export function revisionOf({ opaque }: EntityTag): number | undefined {
  const [, digits] = /^r([1-9]\d{0,8})-/.exec(opaque) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Reads the tags of If-Match or If-None-Match. Returns `*` for any tag, and undefined for an invalid header. */
export function readEntityTags(header: string): '*' | readonly EntityTag[] | undefined {
  const text = header.trim();
  if (text === '*') return '*';
  if (!entityTagsPattern.test(text)) return undefined;
  return Array.from(text.matchAll(tag), ([, weak, opaque = '']) => ({ weak: weak !== undefined, opaque }));
}

const tag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** `*` or a list of tags. A list may contain empty elements (RFC 9110, 5.6.1). */
export const entityTagsPattern = /^(?:\*|[\s,]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,[\s,]*|$))+)$/;
