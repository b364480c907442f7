// A process of its own, so that a hostile picture can take no memory of the server and end nothing but this process. It
// gets a picture and answers with its preview, or with nothing, until its parent lets go of it.
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { PictureAnswer, PictureTask } from './preview-process.ts';

/** The formats that are decoded; whatever else libvips could read (SVG, PDF, ImageMagick's) stays shut. */
const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map((format) => `VipsForeignLoad${format}`);

/** Bytes of one channel of one pixel, by the name that libvips has for the type. */
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
// Linux then ends this process, not the server, when the machine runs out of memory.
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);

process.on('disconnect', () => process.exit());
process.on('message', (task: PictureTask) => {
  // The picture is decoded on another thread, so this one can look after the memory.
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() > task.maxProcessBytes) process.kill(process.pid, 'SIGKILL');
  }, memoryCheckMs);
  void draw(task)
    // Whatever it says, it is about the picture.
    .catch(() => undefined)
    .then((picture) => {
      clearInterval(watch);
      process.send?.({ picture } satisfies PictureAnswer);
    });
});

async function draw({ image, maxPixels, maxDecodedBytes, side }: PictureTask): Promise<Buffer | undefined> {
  const opened = sharp(image, { limitInputPixels: maxPixels, failOn: 'error', pages: 1 });
  const { width, height, channels, depth } = await opened.metadata();
  // An interlaced picture, or one that has to be turned, is in memory as a whole.
  const decodedBytes = width * height * channels * (depths[depth] ?? Number.POSITIVE_INFINITY);
  if (decodedBytes > maxDecodedBytes) return undefined;
  return opened
    .autoOrient()
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 })
    .timeout({ seconds: 10 })
    .toBuffer();
}
