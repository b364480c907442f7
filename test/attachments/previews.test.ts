import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { previewKey } from '../../src/db/attachments.ts';
import { type App, startApp } from '../support/app.ts';
import { bytesOf, type AttachmentCaller, newAttachmentCaller, random } from './files.ts';
import { demoPdf } from '../support/demo-files.ts';
import { uuidOf } from '../support/ids.ts';

let app: App;
let caller: AttachmentCaller;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  caller = await newAttachmentCaller(app);
});

afterAll(() => app.stop());

const blank = { width: 1200, height: 600, channels: 3, background: '#2a7' } as const;

async function preview(url: string | null): Promise<{ headers: Headers; bytes: Buffer }> {
  const response = await fetch(url ?? '');
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('an image', () => {
  it.each(['png', 'jpeg', 'webp', 'avif', 'gif', 'tiff'] as const)(
    'in %s is shown scaled, in WebP',
    async (format) => {
      const bytes = await sharp({ create: blank }).toFormat(format).toBuffer();
      const file = await caller.attach(`picture.${format}`, `image/${format}`, bytes);
      expect(file).toMatchObject({ previewKind: 'IMAGE', isPreviewAvailable: true, codeLanguage: null });
      const shown = await preview(file.signedPreviewUrl);
      expect(await sharp(shown.bytes).metadata()).toMatchObject({ format: 'webp', width: 1024, height: 512 });
      expect(Object.fromEntries(shown.headers)).toMatchObject({
        'content-type': 'image/webp',
        'content-disposition': expect.stringMatching(/^inline; filename="picture\./),
        'content-security-policy': expect.stringMatching(/^sandbox;/),
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect((await bytesOf(file.signedDownloadUrl)).equals(bytes)).toBe(true);
    },
  );

  it('has a preview that is upright, not enlarged and without metadata of the camera', async () => {
    const bytes = await sharp({ create: { ...blank, width: 300, height: 200 } })
      .withExif({ IFD0: { Copyright: 'Somebody' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const { signedPreviewUrl } = await caller.attach('photo.jpg', 'image/jpeg', bytes);
    const { width, height, exif } = await sharp((await preview(signedPreviewUrl)).bytes).metadata();
    expect([width, height, exif]).toEqual([200, 300, undefined]);
  });

  it('has no preview when it decodes to more than 50 million pixels', async () => {
    const raw = { width: 8_000, height: 8_000, channels: 1 } as const;
    const bomb = await sharp(Buffer.alloc(64_000_000), { raw }).png().toBuffer();
    expect(bomb.length).toBeLessThan(200_000);
    const { previewKind, signedPreviewUrl } = await caller.attach('bomb.png', 'image/png', bomb);
    expect([previewKind, signedPreviewUrl]).toEqual(['NONE', null]);
  });

  it.each([
    ['is none at all', random(1_000)],
    ['is HTML', Buffer.from('<html><script>alert(1)</script></html>')],
    ['is SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>')],
    ['is PDF', demoPdf()],
    ['is empty', new Uint8Array()],
  ])('that %s has no preview', async (_, bytes) => {
    const { previewKind } = await caller.attach('picture.png', 'image/png', bytes);
    expect(previewKind).toBe('NONE');
  });

  it('has no preview when it is truncated', async () => {
    const whole = await sharp({ create: blank }).png({ compressionLevel: 0 }).toBuffer();
    const { previewKind } = await caller.attach('half.png', 'image/png', whole.subarray(0, whole.length / 2));
    expect(previewKind).toBe('NONE');
  });

  it('gets a lost preview again on request, once for concurrent requests', async () => {
    const bytes = await sharp({ create: blank }).png().toBuffer();
    const { id, signedPreviewUrl } = await caller.attach('again.png', 'image/png', bytes);
    const row = await app.database.unscoped
      .selectFrom('attachment')
      .selectAll()
      .where('id', '=', uuidOf(id))
      .executeTakeFirstOrThrow();
    await app.store.remove(previewKey(row));
    const shown = await Promise.all(Array.from({ length: 5 }, () => preview(signedPreviewUrl)));
    expect(new Set(shown.map((one) => one.headers.get('content-type')))).toEqual(new Set(['image/webp']));
    const kept = await app.store.get(previewKey(row));
    expect(kept).toBeDefined();
    kept?.destroy();
  });
});

describe('text and code', () => {
  it.each([
    ['server.log', 'text/plain', 'TEXT', null],
    ['notes.md', '', 'TEXT', null],
    ['unknown', 'text/x-something', 'TEXT', null],
    ['script.PY', 'application/octet-stream', 'CODE', 'python'],
    ['index.ts', 'video/mp2t', 'CODE', 'typescript'],
    ['Dockerfile', '', 'CODE', 'dockerfile'],
    ['data', 'application/json', 'CODE', 'json'],
    ['page.html', 'text/html', 'CODE', 'html'],
    ['drawing.svg', 'image/svg+xml', 'CODE', 'xml'],
    ['constructor', 'application/x-thing', 'NONE', null],
    ['archive.tar', 'application/x-tar', 'NONE', null],
  ])('%s of %s is %s %s', async (fileName, contentType, kind, language) => {
    const content = '<p onclick="alert(1)">Grüße</p>\n';
    const file = await caller.attach(fileName, contentType, Buffer.from(content));
    expect([file.previewKind, file.codeLanguage]).toEqual([kind, language]);
    if (kind === 'NONE') return;
    const { headers, bytes } = await preview(file.signedPreviewUrl);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^inline;/);
    expect(bytes.toString()).toBe(content);
  });

  it('are downloaded and never displayed inline when they are HTML or SVG', async () => {
    for (const [fileName, contentType] of [
      ['page.html', 'text/html'],
      ['drawing.svg', 'image/svg+xml'],
    ] as const) {
      const { signedDownloadUrl } = await caller.attach(fileName, contentType, Buffer.from('<x/>'));
      const { headers } = await fetch(signedDownloadUrl ?? '');
      expect(headers.get('content-disposition')).toMatch(/^attachment;/);
      expect(headers.get('content-security-policy')).toMatch(/^sandbox;/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('are cut at the end of a line or a character', async () => {
    const line = `${'ü'.repeat(50)}\n`;
    const long = await caller.attach('long.txt', 'text/plain', Buffer.from(line.repeat(5_000)));
    const cut = (await preview(long.signedPreviewUrl)).bytes.toString();
    expect(cut).toBe(line.repeat(Math.floor(65_536 / 101)));
    const short = await caller.attach('short.txt', 'text/plain', Buffer.from('a\n'.repeat(5_000)));
    expect((await preview(short.signedPreviewUrl)).bytes.toString()).toBe('a\n'.repeat(1_000));
    const oneLine = await caller.attach('one.txt', 'text/plain', Buffer.from('€'.repeat(50_000)));
    expect((await preview(oneLine.signedPreviewUrl)).bytes.toString()).toBe('€'.repeat(21_845));
    const whole = await caller.attach('whole.txt', 'text/plain', Buffer.from('\uFEFFno end'));
    expect((await preview(whole.signedPreviewUrl)).bytes.toString()).toBe('no end');
  });

  it.each([
    ['not UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62])],
    ['cut in the middle of a character', Buffer.from([0x61, 0xc3])],
    ['with a NUL', Buffer.from('a\0b')],
  ])('that is %s has no preview', async (_, bytes) => {
    expect((await caller.attach('a.txt', 'text/plain', bytes)).previewKind).toBe('NONE');
  });
});

describe('a PDF', () => {
  it('is its own preview, also in ranges', async () => {
    const bytes = demoPdf();
    const file = await caller.attach('report.pdf', 'application/pdf', bytes);
    expect(file.previewKind).toBe('PDF');
    const shown = await preview(file.signedPreviewUrl);
    expect(shown.bytes.equals(bytes)).toBe(true);
    expect(shown.headers.get('content-type')).toBe('application/pdf');
    expect(shown.headers.get('content-disposition')).toMatch(/^inline;/);
    const head = await bytesOf(file.signedPreviewUrl, { Range: 'bytes=0-3' });
    expect(head.toString()).toBe('%PDF');
  });

  it('has no preview when its bytes are not a PDF', async () => {
    const { previewKind } = await caller.attach('report.pdf', 'application/pdf', Buffer.from('<html>'));
    expect(previewKind).toBe('NONE');
  });
});
