import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { beginUpload, contentKey } from '../../src/db/attachments.ts';
import { type App, startApp } from '../support/app.ts';
import { sql } from 'kysely';
import { hasServer } from '../db/engines.ts';
import { eventually } from '../support/eventually.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { callerOf } from '../support/mutations.ts';
import { whileLocked } from '../support/while-locked.ts';
import { bytesOf, type AttachmentCaller, newAttachmentCaller, problemOf, put, random } from './files.ts';
import { uuidOf } from '../support/ids.ts';

let app: App;
let caller: AttachmentCaller;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { ATTACHMENT_LIMIT_BYTES: '8000000' } });
  caller = await newAttachmentCaller(app);
});

afterAll(async () => {
  const broken = await brokenInvariants(app.database);
  await app.stop();
  expect(broken).toEqual({});
});

/** All files in the store, including partial ones. */
function kept(): string[] {
  return readdirSync(join(app.dataDir, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

describe('attachmentCreate', () => {
  it('hides the attachment until it is uploaded, then shows it with an entry in the feed', async () => {
    const bytes = random(100_000);
    const named = { fileName: ' plan.bin ', contentType: 'Application/X-Plan; v=1', sizeBytes: bytes.length };
    const { attachment, uploadUrl, expiresUtc } = await caller.create(named);
    expect(attachment).toMatchObject({
      fileName: 'plan.bin',
      contentType: 'application/x-plan',
      uploadedUtc: null,
      signedDownloadUrl: null,
      signedPreviewUrl: null,
    });
    expect(new URL(uploadUrl).origin).toBe(app.url);
    const withinMs = Date.parse(expiresUtc) - Date.now();
    expect(withinMs).toBeGreaterThan(290_000);
    expect(withinMs).toBeLessThanOrEqual(300_000);
    expect(await caller.list()).toEqual([]);
    const node = await app.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: attachment.id });
    expect(node.body.data).toEqual({ node: null });

    const uploaded = await put(uploadUrl, bytes);
    expect([uploaded.status, await uploaded.text()]).toEqual([204, '']);
    const [shown, ...more] = await caller.list();
    expect(more).toEqual([]);
    expect(shown).toMatchObject({
      id: attachment.id,
      sizeBytes: 100_000,
      previewKind: 'NONE',
      codeLanguage: null,
    });
    expect((await bytesOf(shown?.signedDownloadUrl ?? '')).equals(bytes)).toBe(true);
    expect(await callerOf(app, caller.token).feed(caller.issueKey)).toMatchObject([
      {
        eventType: 'issue-attachment.created.v1',
        text: 'Ada Member attached plan.bin',
        occurredUtc: shown?.uploadedUtc,
        sortOrder: 1,
        iconCss: 'icon-paperclip',
      },
    ]);
  });

  it('names every invalid field', async () => {
    const bad = { fileName: 'a/b\u0007', contentType: 'nonsense', sizeBytes: 8_000_001 };
    expect(await caller.refusalOf(bad)).toEqual({
      code: 'VALIDATION_FAILED',
      errors: [
        { field: 'fileName', message: 'must be a name without a path' },
        { field: 'fileName', message: 'must not contain control characters' },
        { field: 'contentType', message: 'must be a media type, such as image/png' },
        { field: 'sizeBytes', message: 'must be at most 8000000' },
      ],
    });
    expect((await caller.refusalOf({ fileName: ' ', sizeBytes: -1 })).errors).toEqual([
      { field: 'fileName', message: 'must not be white space alone' },
      { field: 'sizeBytes', message: 'must be a whole number from 0 to 2147483647' },
    ]);
    expect((await caller.refusalOf({ fileName: 'x'.repeat(256) })).errors).toEqual([
      { field: 'fileName', message: 'must have at most 255 characters' },
    ]);
    expect(await caller.refusalOf({ fileName: '..' })).toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('refuses guests, and issues that do not exist', async () => {
    const guest = await app.tokenFor({ role: 'guest' });
    expect(await caller.refusalOf({}, guest)).toMatchObject({ code: 'FORBIDDEN' });
    const reader = await app.tokenFor({ scopes: ['issues:read'] });
    expect(await caller.refusalOf({}, reader)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await caller.refusalOf({ issueKey: 'ENG-999' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('accepts an empty file, and an unknown content type', async () => {
    const { sizeBytes, contentType, signedDownloadUrl } = await caller.attach('empty', '', new Uint8Array());
    expect([sizeBytes, contentType]).toEqual([0, 'application/octet-stream']);
    expect(await bytesOf(signedDownloadUrl)).toHaveLength(0);
  });
});

describe('an upload', () => {
  it.each([
    ['shorter', 4, 400, 'validation_failed'],
    ['longer', 6, 413, 'payload_too_large'],
  ])('that is %s than announced is refused, and can be retried', async (_, length, status, code) => {
    const before = kept();
    const { uploadUrl } = await caller.create({ sizeBytes: 5 });
    expect(await problemOf(await put(uploadUrl, random(length)))).toEqual([status, code]);
    // Without a Content-Length, the difference shows only while the bytes arrive.
    const stream = new Blob([random(length)]).stream();
    const chunked = await fetch(uploadUrl, { method: 'PUT', body: stream, duplex: 'half' } as RequestInit);
    expect(await problemOf(chunked)).toEqual([status, code]);
    expect(kept()).toEqual(before);
    expect((await put(uploadUrl, random(5))).status).toBe(204);
  });

  it('is stopped with an answer when it exceeds the announced length', async () => {
    const { uploadUrl } = await caller.create({ sizeBytes: 100_000 });
    const answer = new Promise<number | undefined>((resolve, reject) => {
      const sending = httpRequest(uploadUrl, { method: 'PUT' }, ({ statusCode }) => {
        resolve(statusCode);
        clearInterval(more);
      });
      sending.on('error', reject);
      const more = setInterval(() => sending.write(random(50_000)), 20);
    });
    expect(await answer).toBe(413);
  });

  it('leaves no files when it is interrupted', async () => {
    const before = kept();
    const { uploadUrl } = await caller.create({ sizeBytes: 1_000_000 });
    const sending = httpRequest(uploadUrl, { method: 'PUT', headers: { 'Content-Length': 1_000_000 } });
    sending.on('error', () => undefined);
    sending.write(random(500_000));
    await eventually(() => kept().length > before.length);
    sending.destroy();
    await eventually(() => kept().length === before.length);
    expect(kept()).toEqual(before);
    expect((await put(uploadUrl, random(1_000_000))).status).toBe(204);
  });

  it('is refused when it is compressed, because bytes are stored unchanged', async () => {
    const { uploadUrl } = await caller.create({ sizeBytes: 5 });
    const response = await put(uploadUrl, random(5), { 'Content-Encoding': 'gzip' });
    expect(await problemOf(response)).toEqual([415, 'unsupported_media_type']);
    expect((await put(uploadUrl, random(5), { 'Content-Encoding': 'Identity' })).status).toBe(204);
  });

  it('gets 100 Continue only after its signature was checked', async () => {
    const { uploadUrl } = await caller.create({ sizeBytes: 5 });
    const send = (url: string) =>
      new Promise<{ isContinued: boolean; status: number | undefined }>((resolve, reject) => {
        let isContinued = false;
        const headers = { Expect: '100-continue', 'Content-Length': 5 };
        const sending = httpRequest(url, { method: 'PUT', headers }, ({ statusCode }) => {
          resolve({ isContinued, status: statusCode });
        });
        sending.on('continue', () => {
          isContinued = true;
          sending.end('12345');
        });
        sending.on('error', reject);
        sending.flushHeaders();
      });
    expect(await send(`${uploadUrl}x`)).toEqual({ isContinued: false, status: 403 });
    expect(await send(uploadUrl)).toEqual({ isContinued: true, status: 204 });
  });

  it('is accepted once, and its bytes never change', async () => {
    const first = random(5);
    const { uploadUrl, attachment } = await caller.create({ sizeBytes: 5 });
    expect((await put(uploadUrl, first)).status).toBe(204);
    expect(await problemOf(await put(uploadUrl, random(5)))).toEqual([409, 'conflict']);
    const shown = (await caller.list()).find(({ id }) => id === attachment.id);
    expect((await bytesOf(shown?.signedDownloadUrl ?? '')).equals(first)).toBe(true);
  });

  it('is logged with the id of its request', async () => {
    const { uploadUrl, attachment } = await caller.create({ sizeBytes: 5 });
    await put(uploadUrl, random(5), { 'X-Request-Id': 'upload-1' });
    expect(await loggedOf(attachment.id)).toMatchObject([{ requestId: 'upload-1' }]);
  });

  it('can be started at most a hundred times', async () => {
    const { uploadUrl, attachment } = await caller.create({ sizeBytes: 5 });
    await app.database.unscoped
      .updateTable('attachment')
      .set({ revision: 99 })
      .where('workspaceId', '=', app.workspaceId)
      .where('id', '=', uuidOf(attachment.id))
      .execute();
    const begin = () => {
      const body = new Blob([random(4)]).stream();
      return fetch(uploadUrl, { method: 'PUT', body, duplex: 'half' } as RequestInit);
    };
    expect(await problemOf(await begin())).toEqual([400, 'validation_failed']);
    expect(await problemOf(await begin())).toEqual([409, 'conflict']);
  });

  it('succeeds for one of eight concurrent uploads, whose bytes are stored', async () => {
    const { uploadUrl, attachment } = await caller.create({ sizeBytes: 300_000 });
    const files = Array.from({ length: 8 }, () => random(300_000));
    const statuses = await Promise.all(files.map(async (bytes) => (await put(uploadUrl, bytes)).status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 409, 409, 409, 409, 409, 409, 409]);
    const shown = (await caller.list()).find(({ id }) => id === attachment.id);
    const bytes = await bytesOf(shown?.signedDownloadUrl ?? '');
    expect(files[statuses.indexOf(204)]?.equals(bytes)).toBe(true);
    const uuid = uuidOf(attachment.id);
    expect(kept().filter((name) => name.startsWith(uuid))).toHaveLength(1);
  });

  it('is answered 404 when its attachment or issue was deleted meanwhile', async () => {
    const { uploadUrl, attachment } = await caller.create({ sizeBytes: 5 });
    await caller.remove(attachment.id);
    expect(await problemOf(await put(uploadUrl, random(5)))).toEqual([404, 'not_found']);
    const other = await fileDeskOnNewIssue();
    const announced = await caller.create({ issueKey: other, sizeBytes: 5 });
    await callerOf(app, caller.token).mutate('issueDelete', { key: other });
    expect(await problemOf(await put(announced.uploadUrl, random(5)))).toEqual([404, 'not_found']);
  });
});

describe('attachmentDelete', () => {
  it('removes the attachment from the issue and makes its URLs invalid, permanently', async () => {
    const { id, signedDownloadUrl } = await caller.attach('gone.txt', 'text/plain', Buffer.from('gone'));
    await caller.remove(id);
    expect((await caller.list()).map((one) => one.id)).not.toContain(id);
    expect(await problemOf(await fetch(signedDownloadUrl ?? ''))).toEqual([404, 'not_found']);
    await expect(caller.remove(id)).rejects.toThrow('NOT_FOUND');
    await expect(caller.remove('comment_01h455vb4pex5vsknk084sn02q')).rejects.toThrow(
      'expected an attachment id',
    );
  });

  // The end of an upload between the look-up and the lock takes a second session.
  (hasServer ? it : it.skip)('is logged if the upload ended while it waited for the issue', async () => {
    const { attachment, uploadUrl } = await caller.create({ sizeBytes: 5 });
    const uuid = uuidOf(attachment.id);
    const removed = await whileLocked(
      app.database,
      (trx) =>
        trx
          .updateTable('issue')
          .set({ lastActivityUtc: sql<Date>`last_activity_utc` })
          .where('id', '=', sql<string>`(select issue_id from attachment where id = ${uuid}::uuid)`)
          .execute()
          .then(() =>
            trx.updateTable('attachment').set({ uploadedUtc: new Date() }).where('id', '=', uuid).execute(),
          ),
      () => caller.remove(attachment.id),
    );
    expect(removed.status).toBe('fulfilled');
    expect(await loggedOf(attachment.id)).toHaveLength(1);
    expect(await problemOf(await put(uploadUrl, random(5)))).toEqual([404, 'not_found']);
  });

  it('is refused for another expected revision than the current one', async () => {
    const { id, revision } = await caller.attach('kept.txt', 'text/plain', Buffer.from('kept'));
    await expect(caller.remove(id, revision + 1)).rejects.toThrow('PRECONDITION_FAILED');
    expect((await caller.list()).map((one) => one.id)).toContain(id);
    await caller.remove(id, revision);
  });
});

it('the server keeps files and the signing key from other users of the machine', () => {
  expect(statSync(join(app.dataDir, 'signing-key')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(app.dataDir, 'signing-key'), 'utf8')).toMatch(/^[\w-]{43}\n$/);
  expect(statSync(join(app.dataDir, 'files')).mode & 0o077).toBe(0);
});

/** The changes of an attachment in the log, numbered or not. */
async function loggedOf(id: string): Promise<{ requestId: string | null }[]> {
  const { unscoped } = app.database;
  const subject = uuidOf(id);
  const waiting = unscoped.selectFrom('changeInbox').select('requestId').where('subjectId', '=', subject);
  const numbered = unscoped.selectFrom('change').select('requestId').where('subjectId', '=', subject);
  return waiting.unionAll(numbered).execute();
}

async function fileDeskOnNewIssue(): Promise<string> {
  const { body } = await app.graphql<{ issue: { team: { id: string } } }>(
    'query ($key: String!) { issue(key: $key) { team { id } } }',
    { key: caller.issueKey },
  );
  const teamId = body.data?.issue.team.id ?? '';
  return (await callerOf(app, caller.token).create({ teamId, title: 'Short-lived' })).key;
}

it('an upload removes what an earlier one of the attachment has left', async () => {
  const { attachment, uploadUrl } = await caller.create({ sizeBytes: 5 });
  // As when the process ends between storing the bytes and the end of the upload.
  const uuid = uuidOf(attachment.id);
  const earlier = await beginUpload(app.database.of(app.workspaceId), uuid);
  if (!earlier) throw new Error('The upload could not begin.');
  await app.store.put(contentKey(earlier), Readable.from([random(5)]), 5);
  expect((await put(uploadUrl, random(5))).status).toBe(204);
  expect(kept().filter((name) => name.startsWith(uuid))).toEqual([`${uuid}.${earlier.revision + 1}`]);
});
