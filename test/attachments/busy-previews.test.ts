import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { contentKey } from '../../src/db/attachments.ts';
import { previewKind } from '../../src/model/codes.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { drawPicture } from '../../src/resolvers/attachments/preview-pictures.ts';
import { findPreview, readPreview } from '../../src/resolvers/attachments/previews.ts';
import { DirectoryStore } from '../../src/storage/storage-directory.ts';

const folder = mkdtempSync(join(tmpdir(), 'workgraph-busy-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('an image is uploaded while too many others wait to be drawn, and drawn at the first request', async () => {
  const store = new DirectoryStore(folder);
  const workspaceId = newUuid();
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const file = {
    workspaceId,
    id: newUuid(),
    revision: 1,
    fileName: 'red.png',
    contentType: 'image/png',
    sizeBytes: png.length,
  };
  await store.put(contentKey(file), Readable.from([png]));
  const released = Promise.withResolvers<undefined>();
  const others = Array.from({ length: 51 }, () => drawPicture(workspaceId, () => released.promise));
  const found = await findPreview(store, file);
  expect(found.previewKind).toBe(previewKind.image);
  released.resolve(undefined);
  await Promise.all(others);
  expect(await readPreview(store, { ...file, ...found })).toMatchObject({ contentType: 'image/webp' });
});
