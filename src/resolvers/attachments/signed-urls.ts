import { createHmac, timingSafeEqual } from 'node:crypto';
import { encodeId } from '../ids.ts';

/** The longest that a signed URL is good for. */
export const signedForMs = 5 * 60_000;

/** What a browser is to do with the bytes: keep them as a file, or show them. */
export type Disposition = 'attachment' | 'inline';

/** Which bytes of an attachment: those that were uploaded, or what is shown of them. */
export type FilePart = 'content' | 'preview';

/** All that a signature vouches for, but for the time. */
export interface SignedAccess {
  readonly method: 'GET' | 'PUT';
  readonly part: FilePart;
  readonly workspaceId: string;
  readonly attachmentId: string;
  readonly disposition: Disposition;
}

/** The signed part of a URL, beside the path. */
export interface Signature {
  readonly expiresAtSeconds: number;
  readonly signature: string;
}

/** Makes and judges signatures: the first key signs, all of them verify. */
export class UrlSigner {
  readonly #keys: readonly string[];

  constructor(keys: readonly [string, ...string[]]) {
    this.#keys = keys;
  }

  /** A path with its query, good for five minutes. */
  sign(access: SignedAccess, now: Date): { path: string; expiresUtc: Date } {
    const expiresAtSeconds = Math.floor((now.getTime() + signedForMs) / 1000);
    const [key = ''] = this.#keys;
    const query = new URLSearchParams({
      workspace: encodeId('workspace', access.workspaceId),
      disposition: access.disposition,
      expires: String(expiresAtSeconds),
      signature: signatureOf(key, access, expiresAtSeconds),
    });
    return { path: `${pathOf(access)}?${query}`, expiresUtc: new Date(expiresAtSeconds * 1000) };
  }

  /** Whether one of the keys signed this, and whether it is still good. */
  verify(
    access: SignedAccess,
    { expiresAtSeconds, signature }: Signature,
    now: Date,
  ): 'good' | 'bad' | 'expired' {
    const given = Buffer.from(signature);
    let isGood = false;
    // All keys, whichever fits, so that time says nothing.
    for (const key of this.#keys) {
      const expected = Buffer.from(signatureOf(key, access, expiresAtSeconds));
      if (given.length === expected.length && timingSafeEqual(given, expected)) isGood = true;
    }
    if (!isGood) return 'bad';
    return expiresAtSeconds * 1000 > now.getTime() ? 'good' : 'expired';
  }
}

function pathOf({ attachmentId, part }: SignedAccess): string {
  return `/files/${encodeId('attachment', attachmentId)}/${part}`;
}

function signatureOf(key: string, access: SignedAccess, expiresAtSeconds: number): string {
  const { method, attachmentId, workspaceId, disposition } = access;
  // As JSON, so that no two lists of values make one text.
  const vouched = [method, pathOf(access), attachmentId, workspaceId, expiresAtSeconds, disposition];
  return createHmac('sha256', key).update(JSON.stringify(vouched)).digest('base64url');
}
