import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type FilePart,
  type SignedAccess,
  signedForMs,
  UrlSigner,
} from '../../src/resolvers/attachments/signed-urls.ts';
import { dataOf } from '../graph/graph-answer.ts';
import type { World } from '../graph/world.ts';
import type { Answer } from '../support/app.ts';
import { unknownId } from './trials.ts';
import { digestOf, seenIn, startTwins, type TwinWorlds, uncompressed } from './twin-worlds.ts';
import { uuidOf } from '../support/ids.ts';

const bytes = Buffer.from('some text');

/** Attachments of a workspace with their signed URLs. */
interface Files {
  workspaceId: string;
  /** An attachment whose bytes have not been uploaded. */
  announced: { id: string; upload: string };
  /** An attachment with its bytes. */
  kept: { id: string; upload: string; download: string; preview: string };
  deleted: { id: string };
}

let twins: TwinWorlds;
let here: Files;
let there: Files;
let signer: UrlSigner;
let thereBefore: Record<string, string>;
let cells = 0;

beforeAll(async () => {
  twins = await startTwins();
  here = await filesOf(twins.here, twins.own.notDeleted('issue')[0]?.key ?? '');
  there = await filesOf(twins.there, twins.foreign.notDeleted('issue')[0]?.key ?? '');
  signer = new UrlSigner([readFileSync(join(twins.here.app.dataDir, 'signing-key'), 'utf8').trim()]);
  thereBefore = await digestOf(twins, there.workspaceId);
});
afterAll(async () => {
  await twins.stop();
  console.info(`The matrix of signed addresses: ${cells} cells.`);
});

async function filesOf(world: World, issueKey: string): Promise<Files> {
  const announce = async () => {
    const answer = await world.ask(
      `mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl attachment { id } } }`,
      { input: { issueKey, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: bytes.length } },
    );
    const { uploadUrl, attachment } = dataOf(answer).attachmentCreate as {
      uploadUrl: string;
      attachment: { id: string };
    };
    return { id: attachment.id, upload: pathOf(uploadUrl) };
  };
  const keep = async () => {
    const announced = await announce();
    expect((await ask('PUT', announced.upload)).status).toBe(204);
    const query =
      'query ($id: ID!) { node(id: $id) { ... on Attachment { signedDownloadUrl signedPreviewUrl } } }';
    const { node } = dataOf(await world.ask(query, { id: announced.id })) as {
      node: { signedDownloadUrl: string; signedPreviewUrl: string };
    };
    return { ...announced, download: pathOf(node.signedDownloadUrl), preview: pathOf(node.signedPreviewUrl) };
  };
  const deleted = await keep();
  const remove =
    'mutation ($id: ID!) { attachmentDelete(input: { id: $id }) { deletedAttachmentId issue { key } } }';
  dataOf(await world.ask(remove, { id: deleted.id }));
  const { workspaceId } = world.workspace;
  return { workspaceId, announced: await announce(), kept: await keep(), deleted };
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

const methods = ['GET', 'HEAD', 'PUT'] as const;

function ask(method: string, path: string): Promise<Answer> {
  return twins.here.app.request(method, path, {
    token: null,
    headers: { ...uncompressed, ...(method === 'PUT' && { 'Content-Type': 'text/plain' }) },
    ...(method === 'PUT' && { body: bytes }),
  });
}

/** Expects that requests with the URL get the same answers as requests with its twin. */
async function expectAlike(what: string, path: string, twin: string): Promise<void> {
  const blotted = [path, twin].flatMap((each) => new URL(each, 'http://x').pathname.split('/')[2] ?? []);
  for (const method of methods) {
    cells += 1;
    const [seen, seenThere] = [await ask(method, path), await ask(method, twin)].map((answer) =>
      seenIn(answer, blotted),
    );
    expect([what, method, path, seen]).toEqual([what, method, path, seenThere]);
    expect(seen).toMatch(/^40[345]\n/);
  }
}

/** Reads a parameter of a signed URL. */
function saidIn(address: string, name: 'workspace' | 'signature'): string {
  return new URL(address, 'http://x').searchParams.get(name) ?? '';
}

it('a signature is valid only for the URL for which it was made', async () => {
  const issue = twins.own.notDeleted('issue')[0]?.id ?? '';
  const foreignIssue = twins.foreign.notDeleted('issue')[0]?.id ?? '';
  const targets: Record<string, string> = {
    'own, with bytes': here.kept.id,
    'own, announced': here.announced.id,
    'own and deleted': here.deleted.id,
    'own of another kind': issue,
    foreign: there.kept.id,
    'foreign, announced': there.announced.id,
    'foreign and deleted': there.deleted.id,
    'foreign of another kind': foreignIssue,
  };
  const random = Buffer.alloc(32, 7).toString('base64url');
  const { upload, download, preview } = here.kept;
  for (const good of [upload, here.announced.upload, download, preview]) {
    for (const [what, id] of Object.entries(targets)) {
      if (good.includes(id)) continue;
      for (const workspaceId of ['own', 'foreign']) {
        const moved = new URL(good.replace(/attachment_\w{26}/, id), 'http://x');
        if (workspaceId === 'foreign')
          moved.searchParams.set('workspace', saidIn(there.kept.download, 'workspace'));
        const twin = new URL(moved);
        twin.pathname = twin.pathname.replace(id, unknownId(id));
        twin.searchParams.set('signature', random);
        await expectAlike(`${what} in the ${workspaceId} workspace`, pathOf(moved.href), pathOf(twin.href));
      }
    }
  }
});

it('a URL of the other workspace is refused after a change of any part', async () => {
  const changes: Record<string, (url: URL) => void> = {
    workspace: ({ searchParams }) => searchParams.set('workspace', saidIn(here.kept.download, 'workspace')),
    'a kind that is no workspace': ({ searchParams }) => searchParams.set('workspace', there.kept.id),
    signature: ({ searchParams }) => searchParams.set('signature', saidIn(here.kept.download, 'signature')),
    'later expiry': ({ searchParams }) =>
      searchParams.set('expires', String(Number(searchParams.get('expires')) + 1)),
    disposition: ({ searchParams }) =>
      searchParams.set('disposition', searchParams.get('disposition') === 'inline' ? 'attachment' : 'inline'),
    'two signatures': ({ searchParams }) =>
      searchParams.append('signature', searchParams.get('signature') ?? ''),
  };
  for (const good of [there.kept.upload, there.announced.upload, there.kept.download, there.kept.preview]) {
    for (const [what, change] of Object.entries(changes)) {
      const changed = new URL(good, 'http://x');
      change(changed);
      const twin = new URL(changed);
      twin.pathname = twin.pathname.replace(/attachment_\w{26}/, (id) => unknownId(id));
      await expectAlike(what, pathOf(changed.href), pathOf(twin.href));
    }
  }
});

it('a validly signed URL gives no access to the other workspace, to deleted files, or after its expiry', async () => {
  const now = new Date();
  const signed = (
    { id, workspaceId, at = now }: { id: string; workspaceId: string; at?: Date },
    { part, method }: { part: FilePart; method: SignedAccess['method'] },
  ) =>
    signer.sign({ method, part, workspaceId, attachmentId: uuidOf(id), disposition: 'attachment' }, at).path;
  const past = new Date(now.getTime() - signedForMs - 1_000);
  const objects: Record<string, { id: string; workspaceId: string; at?: Date }> = {
    'the other’s by its own': { id: there.kept.id, workspaceId: here.workspaceId },
    'the other’s by its own, announced': { id: there.announced.id, workspaceId: here.workspaceId },
    'its own by the other’s': { id: here.kept.id, workspaceId: there.workspaceId },
    'its own by the other’s, announced': { id: here.announced.id, workspaceId: there.workspaceId },
    'own and deleted': { id: here.deleted.id, workspaceId: here.workspaceId },
    'the other’s and deleted': { id: there.deleted.id, workspaceId: there.workspaceId },
    'own, expired': { id: here.kept.id, workspaceId: here.workspaceId, at: past },
    'own and announced, expired': { id: here.announced.id, workspaceId: here.workspaceId, at: past },
    'the other’s, expired': { id: there.kept.id, workspaceId: there.workspaceId, at: past },
  };
  for (const [what, object] of Object.entries(objects)) {
    for (const access of [
      { part: 'content', method: 'GET' },
      { part: 'content', method: 'PUT' },
      { part: 'preview', method: 'GET' },
    ] as const) {
      await expectAlike(
        what,
        signed(object, access),
        signed({ ...object, id: unknownId(object.id) }, access),
      );
    }
  }
});

it('no request of these tests writes to the other workspace, and unchanged URLs work', async () => {
  expect(await digestOf(twins, there.workspaceId)).toEqual(thereBefore);
  for (const { kept, announced } of [here, there]) {
    for (const path of [kept.download, kept.preview])
      expect([(await ask('GET', path)).status, (await ask('HEAD', path)).status]).toEqual([200, 200]);
    expect((await ask('PUT', kept.upload)).status).toBe(409);
    expect((await ask('PUT', announced.upload)).status).toBe(204);
  }
});
