import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32, createDeflate } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import sharp from 'sharp';
import { PictureProcess, type PictureLimits } from '../../src/resolvers/attachments/preview-process.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/processes.ts';
import { type AttachmentCaller, newAttachmentCaller } from './files.ts';

const limits: PictureLimits = {
  maxPixels: 50_000_000,
  maxDecodedBytes: 200_000_000,
  maxProcessBytes: 500_000_000,
  side: 1024,
  // A machine whose memory is slow takes several times as long.
  seconds: 100,
};

let app: App;
let caller: AttachmentCaller;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  caller = await newAttachmentCaller(app);
});
afterAll(() => app.stop());

/** A small picture that is quick to draw. */
const small = () =>
  sharp({ create: { width: 30, height: 20, channels: 3, background: '#2a7' } })
    .png()
    .toBuffer();

function chunk(type: string, data: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Makes a black, interlaced PNG with four 16-bit channels, without having its pixels in memory. */
async function interlacedPng(side: number): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([16, 6, 0, 0, 1], 8);
  const passes = [
    [0, 8, 0, 8],
    [4, 8, 0, 8],
    [0, 4, 4, 8],
    [2, 4, 0, 4],
    [0, 2, 2, 4],
    [1, 2, 0, 2],
    [0, 1, 1, 2],
  ] as const;
  const deflate = createDeflate({ level: 1 });
  const compressed: Buffer[] = [];
  deflate.on('data', (bytes: Buffer) => compressed.push(bytes));
  for (const [x, stepX, y, stepY] of passes) {
    const row = Buffer.alloc(1 + 8 * Math.ceil((side - x) / stepX));
    for (let line = y; line < side; line += stepY) if (!deflate.write(row)) await once(deflate, 'drain');
  }
  deflate.end();
  await once(deflate, 'end');
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', Buffer.concat(compressed)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A picture with the maximum number of pixels, which three tests share. */
let hugePicture: Promise<Buffer> | undefined;
const pictureAtTheLimit = () => (hugePicture ??= interlacedPng(4_990));

/** The peak memory of a process in bytes. */
function peakOf(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

it('a small file that decodes to 400 MB gets no preview, and does not affect other previews', async () => {
  const bomb = await interlacedPng(7_070);
  expect(bomb.length).toBeLessThan(3_000_000);
  const picture = await small();
  const before = process.memoryUsage().rss;
  const [hostile, ...others] = await Promise.all([
    caller.attach('bomb.png', 'image/png', bomb),
    caller.attach('a.png', 'image/png', picture),
    caller.attach('bomb2.png', 'image/png', bomb),
    caller.attach('b.png', 'image/png', picture),
  ]);
  expect(hostile?.previewKind).toBe('NONE');
  expect(others.map(({ previewKind }) => previewKind)).toEqual(['IMAGE', 'NONE', 'IMAGE']);

  // What the test and its uploads leave behind is collected at some time.
  await eventually(() => process.memoryUsage().rss - before < 150_000_000);
});

describe('the process that draws pictures', () => {
  it('draws an interlaced picture at the limit within its memory limit', async () => {
    const pictures = new PictureProcess(limits);
    expect(await pictures.draw(await pictureAtTheLimit())).toBeDefined();
    expect(peakOf(pictures.pid)).toBeLessThan(limits.maxProcessBytes);
    pictures.end();
  });

  it('is killed when it exceeds its memory limit, and the next picture gets a new process', async () => {
    const pictures = new PictureProcess({ ...limits, maxProcessBytes: 170_000_000 });
    expect(await pictures.draw(await small())).toBeDefined();
    const { pid } = pictures;
    expect(await pictures.draw(await pictureAtTheLimit())).toBeUndefined();
    expect(pictures.pid).not.toBe(pid);
    expect(await pictures.draw(await small())).toBeDefined();
    pictures.end();
  });

  it('is reused, and exits when it is released', async () => {
    const pictures = new PictureProcess(limits);
    await pictures.draw(await small());
    const { pid } = pictures;
    await pictures.draw(await small());
    expect(pictures.pid).toBe(pid);
    pictures.end();
    while (isAlive(pid)) await delay(10);
    expect(await pictures.draw(await small())).toBeDefined();
    pictures.end();
  });

  it('loses only the preview that it was drawing when it is killed', async () => {
    const pictures = new PictureProcess(limits);
    await pictures.draw(await small());
    const drawing = pictures.draw(await pictureAtTheLimit());
    process.kill(pictures.pid ?? Number.NaN, 'SIGKILL');
    expect(await drawing).toBeUndefined();
    expect(await pictures.draw(await small())).toBeDefined();
    process.kill(pictures.pid ?? Number.NaN, 'SIGKILL');
    // Whether its exit has been noticed by now or not.
    await pictures.draw(await small());
    expect(await pictures.draw(await small())).toBeDefined();
    pictures.end();
  });
});

it('a picture has a preview exactly if its decoded bytes are within the bound', async () => {
  const pictures = new PictureProcess({ ...limits, maxDecodedBytes: 120_000 });
  const sizes = fc.integer({ min: 1, max: 300 });
  const variants = fc.record({
    width: sizes,
    height: sizes,
    channels: fc.constantFrom(3 as const, 4 as const),
    is16: fc.boolean(),
    progressive: fc.boolean(),
    orientation: fc.integer({ min: 1, max: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(variants, async ({ width, height, channels, is16, progressive, orientation }) => {
      const blank = sharp({ create: { width, height, channels, background: '#2a7' } });
      const picture = await blank
        .toColourspace(is16 ? 'rgb16' : 'srgb')
        .withMetadata({ orientation })
        .png({ progressive })
        .toBuffer();
      const drawn = await pictures.draw(picture);
      const decodedBytes = width * height * channels * (is16 ? 2 : 1);
      expect(drawn !== undefined).toBe(decodedBytes <= 120_000);
    }),
    { numRuns: 60 },
  );
  pictures.end();
});
