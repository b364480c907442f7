import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../../src/live/webhooks/sign.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { secretText, WebhookSecrets } from '../../src/resolvers/webhooks/secrets.ts';

const message = { id: 'change_01', body: '{"type":"issue.created.v1","data":{"text":"Grüße 🦉"}}' };

describe('the signature of a webhook', () => {
  it('is accepted by the library of Standard Webhooks, with either secret during a rotation', () => {
    const secrets = [randomBytes(32), randomBytes(32)];
    const headers = signatureHeaders(message, secrets, new Date());
    for (const secret of secrets) {
      expect(new Webhook(secretText(secret)).verify(message.body, headers)).toEqual(JSON.parse(message.body));
    }
  });

  it('is refused with another secret, body, id or time', () => {
    const secret = randomBytes(32);
    const verifier = new Webhook(secretText(secret));
    const headers = signatureHeaders(message, [secret], new Date());
    const late = signatureHeaders(message, [secret], new Date(Date.now() - 600_000));
    expect(() => new Webhook(secretText(randomBytes(32))).verify(message.body, headers)).toThrow(
      'No matching signature',
    );
    expect(() => verifier.verify(`${message.body} `, headers)).toThrow('No matching signature');
    expect(() => verifier.verify(message.body, { ...headers, 'webhook-id': 'change_02' })).toThrow(
      'No matching signature',
    );
    expect(() => verifier.verify(message.body, late)).toThrow('too old');
  });
});

describe('WebhookSecrets', () => {
  const oldKey = 'a'.repeat(32);
  const newKey = 'b'.repeat(32);

  it('decrypt a secret only for the webhook that it was encrypted for', () => {
    const id = newUuid();
    const secrets = new WebhookSecrets([oldKey]);
    const { text, encrypted } = secrets.make(id);
    const opened = secrets.decrypt(encrypted, id);
    expect(opened && secretText(opened)).toBe(text);
    expect(secrets.decrypt(encrypted, newUuid())).toBeUndefined();
    expect(encrypted.includes(Buffer.from(text.slice('whsec_'.length), 'base64'))).toBe(false);
  });

  it('decrypt after a rotation of the keys, as long as the old one is configured', () => {
    const id = newUuid();
    const { encrypted } = new WebhookSecrets([oldKey]).make(id);
    expect(new WebhookSecrets([newKey, oldKey]).decrypt(encrypted, id)).toHaveLength(32);
    expect(new WebhookSecrets([newKey]).decrypt(encrypted, id)).toBeUndefined();
  });

  it('decrypt what a database has stored since the first version', () => {
    const stored = 'O6P19KdUBygJTC8F7q2CTGq1z8nkpmupt2N/L2xCfN1m1T67p7ghqvXwZ6CjtQOJ0WrnDUIEASVxtrb+2kz6Vg==';
    const opened = new WebhookSecrets([oldKey]).decrypt(
      Buffer.from(stored, 'base64'),
      '018f0000-0000-7000-8000-000000000001',
    );
    expect(opened).toEqual(Buffer.alloc(32, 7));
  });

  it('decrypt nothing that was changed or truncated', () => {
    const id = newUuid();
    const secrets = new WebhookSecrets([oldKey]);
    const { encrypted } = secrets.make(id);
    const changed = Buffer.from(encrypted);
    changed.writeUInt8(changed.readUInt8(40) ^ 1, 40);
    for (const bytes of [changed, encrypted.subarray(0, 20), Buffer.alloc(0)]) {
      expect(secrets.decrypt(bytes, id)).toBeUndefined();
    }
  });
});
