import { createHmac, timingSafeEqual } from 'node:crypto';
import { encodeId } from '../ids.ts';

/** How long a signed URL is valid. */
export const signedForMs = 5 * 60_000;

/** Whether a browser downloads the file or shows it. */
export type Disposition = 'attachment' | 'inline';

/** The part of an attachment: the uploaded bytes or the preview. */
export type FilePart = 'content' | 'preview';

/** The access that a signed URL grants, which its signature covers together with the expiry. */
export interface SignedAccess {
  readonly method: 'GET' | 'PUT';
  readonly part: FilePart;
  readonly workspaceId: string;
  readonly attachmentId: string;
  readonly disposition: Disposition;
}

/** The expiry and the signature in the query of a signed URL. */
interface Signature {
  readonly expiresAtSeconds: number;
  readonly signature: string;
}

/** Makes and verifies signatures. The first key signs; all keys verify. */
export class UrlSigner {
  readonly #keys: readonly string[];

  constructor(keys: readonly [string, ...string[]]) {
    this.#keys = keys;
  }

  /** A signed path with its query, which is valid for five minutes. */
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

  /** Checks the signature and the expiry. */
  verify(
    access: SignedAccess,
    { expiresAtSeconds, signature }: Signature,
    now: Date,
  ): 'good' | 'bad' | 'expired' {
    const actual = Buffer.from(signature);
    let isGood = false;
    // All keys are tried even after a match, so that the duration reveals nothing.
    for (const key of this.#keys) {
      const expected = Buffer.from(signatureOf(key, access, expiresAtSeconds));
      if (actual.length === expected.length && timingSafeEqual(actual, expected)) isGood = true;
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
  // JSON, so that different values never give the same text.
  const signed = [method, pathOf(access), attachmentId, workspaceId, expiresAtSeconds, disposition];
  return createHmac('sha256', key).update(JSON.stringify(signed)).digest('base64url');
}
