import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

/** A key of the configuration, and the one that is derived from it for secrets. */
interface EncryptionKey {
  readonly id: Buffer;
  readonly key: Buffer;
}

/**
 * Encrypts the secrets of webhooks, which must be read again to sign with them. The keys are those that sign URLs: the
 * first one encrypts, and all decrypt. An encrypted secret names its key, so that keys can be exchanged.
 */
export class WebhookSecrets {
  readonly #keys: readonly [EncryptionKey, ...EncryptionKey[]];

  constructor([first, ...rest]: readonly [string, ...string[]]) {
    this.#keys = [encryptionKey(first), ...rest.map(encryptionKey)];
  }

  /** Creates a secret for a webhook: in the form for the receiver, and encrypted for storage. */
  make(webhookId: string): { text: string; encrypted: Buffer } {
    const secret = randomBytes(32);
    return { text: secretText(secret), encrypted: this.encrypt(secret, webhookId) };
  }

  encrypt(secret: Buffer, webhookId: string): Buffer {
    const [{ id, key }] = this.#keys;
    const iv = randomBytes(ivBytes);
    const encrypting = createCipheriv(cipher, key, iv).setAAD(Buffer.from(webhookId));
    const text = Buffer.concat([encrypting.update(secret), encrypting.final()]);
    return Buffer.concat([id, iv, encrypting.getAuthTag(), text]);
  }

  /** The ids of the keys that only decrypt. */
  get otherKeyIds(): readonly Buffer[] {
    const [first, ...others] = this.#keys;
    return others.flatMap(({ id }) => (id.equals(first.id) ? [] : [id]));
  }

  /** The secret encrypted with the first key; the same bytes if it is already, or if it cannot be decrypted. */
  reencrypted(encrypted: Buffer, webhookId: string): Buffer {
    const [first] = this.#keys;
    if (first.id.equals(encrypted.subarray(0, keyIdBytes))) return encrypted;
    const secret = this.decrypt(encrypted, webhookId);
    return secret ? this.encrypt(secret, webhookId) : encrypted;
  }

  /** The secret; undefined if its key is no longer among the keys, or if it belongs to another webhook. */
  decrypt(encrypted: Buffer, webhookId: string): Buffer | undefined {
    const matchingKey = this.#keys.find(({ id }) => id.equals(encrypted.subarray(0, keyIdBytes)));
    if (!matchingKey || encrypted.length < keyIdBytes + ivBytes + tagBytes) return undefined;
    const iv = encrypted.subarray(keyIdBytes, keyIdBytes + ivBytes);
    const tag = encrypted.subarray(keyIdBytes + ivBytes, keyIdBytes + ivBytes + tagBytes);
    try {
      const decrypting = createDecipheriv(cipher, matchingKey.key, iv, { authTagLength: tagBytes });
      decrypting.setAAD(Buffer.from(webhookId)).setAuthTag(tag);
      return Buffer.concat([
        decrypting.update(encrypted.subarray(keyIdBytes + ivBytes + tagBytes)),
        decrypting.final(),
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

function encryptionKey(text: string): EncryptionKey {
  return {
    id: hash('sha256', text, 'buffer').subarray(0, keyIdBytes),
    key: Buffer.from(hkdfSync('sha256', text, '', 'workgraph webhook secrets', 32)),
  };
}
