import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

/** A key of the configuration, and the one that is derived from it for secrets. */
interface SealingKey {
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * Encrypts the secrets of webhooks, which must be read again to sign with them. The keys are those that sign URLs: the
 * first one encrypts, and all decrypt. A sealed secret names its key, so that keys can be exchanged.
 */
export class WebhookSecrets {
  readonly #keys: readonly [SealingKey, ...SealingKey[]];

  constructor([first, ...rest]: readonly [string, ...string[]]) {
    this.#keys = [sealingKey(first), ...rest.map(sealingKey)];
  }

  /** Creates a secret for a webhook: in the form for the receiver, and encrypted for storage. */
  make(webhookId: string): { text: string; sealed: Buffer } {
    const secret = randomBytes(32);
    return { text: secretText(secret), sealed: this.seal(secret, webhookId) };
  }

  seal(secret: Buffer, webhookId: string): Buffer {
    const [{ id, key }] = this.#keys;
    const iv = randomBytes(ivBytes);
    const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(webhookId));
    const text = Buffer.concat([sealing.update(secret), sealing.final()]);
    return Buffer.concat([id, iv, sealing.getAuthTag(), text]);
  }

  /** The ids of the keys that only decrypt. */
  get otherKeyIds(): readonly Buffer[] {
    const [first, ...others] = this.#keys;
    return others.flatMap(({ id }) => (id.equals(first.id) ? [] : [id]));
  }

  /** The secret encrypted with the first key; the same bytes if it is already, or if it cannot be decrypted. */
  resealed(sealed: Buffer, webhookId: string): Buffer {
    const [first] = this.#keys;
    if (first.id.equals(sealed.subarray(0, keyIdBytes))) return sealed;
    const secret = this.open(sealed, webhookId);
    return secret ? this.seal(secret, webhookId) : sealed;
  }

  /** The secret; undefined if its key is no longer among the keys, or if it belongs to another webhook. */
  open(sealed: Buffer, webhookId: string): Buffer | undefined {
    const known = this.#keys.find(({ id }) => id.equals(sealed.subarray(0, keyIdBytes)));
    if (!known || sealed.length < keyIdBytes + ivBytes + tagBytes) return undefined;
    const iv = sealed.subarray(keyIdBytes, keyIdBytes + ivBytes);
    const tag = sealed.subarray(keyIdBytes + ivBytes, keyIdBytes + ivBytes + tagBytes);
    try {
      const opening = createDecipheriv(cipher, known.key, iv, { authTagLength: tagBytes });
      opening.setAAD(Buffer.from(webhookId)).setAuthTag(tag);
      return Buffer.concat([
        opening.update(sealed.subarray(keyIdBytes + ivBytes + tagBytes)),
        opening.final(),
      ]);
    } catch {
      return undefined;
    }
  }
}

/** A secret as Standard Webhooks writes it. */
export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}

function sealingKey(text: string): SealingKey {
  return {
    id: hash('sha256', text, 'buffer').subarray(0, keyIdBytes),
    key: Buffer.from(hkdfSync('sha256', text, '', 'workgraph webhook secrets', 32)),
  };
}
