// A process of its own, so that a malicious picture cannot use the server's memory and can only crash this process. It
// receives pictures and answers each with its preview or with nothing, until its parent disconnects.
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { PictureAnswer, PictureTask } from './preview-process.ts';

/** The formats that are decoded. All other decoders of libvips (SVG, PDF, ImageMagick) are blocked. */
const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map((format) => `VipsForeignLoad${format}`);

/** The bytes per channel of a pixel, by libvips's name of the type. */
const depths: Readonly<Record<string, number>> = {
  char: 1,
  uchar: 1,
  short: 2,
  ushort: 2,
  int: 4,
  uint: 4,
  float: 4,
  complex: 8,
  double: 8,
  dpcomplex: 16,
};

const memoryCheckMs = 5;

sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: decoders });
// If the machine runs out of memory, Linux then kills this process instead of the server.
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);

process.on('disconnect', () => process.exit());
process.on('message', (task: PictureTask) => {
  // The picture is decoded on another thread, so this one can watch the memory.
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() > task.maxProcessBytes) process.kill(process.pid, 'SIGKILL');
  }, memoryCheckMs);
  void draw(task)
    // Any error means that the picture cannot be decoded.
    .catch(() => undefined)
    .then((picture) => {
      clearInterval(watch);
      process.send?.({ picture } satisfies PictureAnswer);
    });
});

async function draw({
  image,
  maxPixels,
  maxDecodedBytes,
  side,
  seconds,
}: PictureTask): Promise<Buffer | undefined> {
  const opened = sharp(image, { limitInputPixels: maxPixels, failOn: 'error', pages: 1 });
  const { width, height, channels, depth } = await opened.metadata();
  // A picture that is interlaced or has to be rotated is decoded as a whole into memory.
  const decodedBytes = width * height * channels * (depths[depth] ?? Number.POSITIVE_INFINITY);
  if (decodedBytes > maxDecodedBytes) return undefined;
  return opened
    .autoOrient()
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 })
    .timeout({ seconds })
    .toBuffer();
}
