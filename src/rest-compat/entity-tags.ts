import { hash } from 'node:crypto';

/** A tag as a conditional request names it (RFC 9110, 8.8.3). */
interface EntityTag {
  readonly weak: boolean;
  /** What stands between the quotes. */
  readonly opaque: string;
}

/**
 * The tag of an answer: the revision of the thing, where it has one, and a hash of all that is said, since that has
 * names of other things and differs by who asks.
 */
export function entityTag(body: string | Uint8Array, revision: number | undefined): string {
  const digest = hash('sha1', body, 'base64url');
  return revision === undefined ? `"${digest}"` : `"r${revision}-${digest}"`;
}

/** The revision that a tag of ours names; undefined for the tags of lists, and for those that are not ours. */
export function revisionOf({ opaque }: EntityTag): number | undefined {
  const [, digits] = /^r([1-9]\d{0,8})-/.exec(opaque) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The tags of an If-Match or If-None-Match; `*` stands for any, undefined says that it is neither. */
export function readEntityTags(header: string): '*' | readonly EntityTag[] | undefined {
  const text = header.trim();
  if (text === '*') return '*';
  if (!entityTagsForm.test(text)) return undefined;
  return Array.from(text.matchAll(tag), ([, weak, opaque = '']) => ({ weak: weak !== undefined, opaque }));
}

const tag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** `*` or a list of tags; elements that are empty are no mistake in a list (RFC 9110, 5.6.1). */
export const entityTagsForm = /^(?:\*|[\s,]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,[\s,]*|$))+)$/;
