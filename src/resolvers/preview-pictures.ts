import type { Sharp, SharpOptions } from 'sharp';
import { raise } from './errors.ts';

/** The largest image that is read into memory, and the most pixels that it may unfold into. */
export const mostImageBytes = 32 * 1024 * 1024;
const mostPixels = 50_000_000;

/** The longest side of what is shown. */
const side = 1024;

/** Images decoded at once, and how many may wait for that. */
const mostAtOnce = 2;
const mostWaiting = 50;

/** The formats that are decoded; whatever else libvips could read (SVG, PDF, ImageMagick's) stays shut. */
const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map((format) => `VipsForeignLoad${format}`);

/**
 * A picture of an image in WebP, upright and without its metadata; undefined when it is no image that can be
 * decoded, or one that unfolds into too much.
 */
export async function drawPicture(read: () => Promise<Buffer | undefined>): Promise<Buffer | undefined> {
  return inTurn(async () => {
    const image = await read();
    if (!image) return undefined;
    const sharp = await loadSharp();
    try {
      return await sharp(image, { limitInputPixels: mostPixels, failOn: 'error', pages: 1 })
        .autoOrient()
        .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
        .webp({ quality: 80 })
        .timeout({ seconds: 10 })
        .toBuffer();
    } catch {
      // Whatever it says, it is about the image.
      return undefined;
    }
  });
}

type MakeSharp = (input: Buffer, options: SharpOptions) => Sharp;
let loading: Promise<MakeSharp> | undefined;

/** Loaded with the first image: it takes a third of a second. */
function loadSharp(): Promise<MakeSharp> {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: decoders });
    return sharp;
  });
  return loading;
}

let underWay = 0;
const waiting: (() => void)[] = [];

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (underWay >= mostAtOnce) {
    if (waiting.length >= mostWaiting)
      raise('unavailable', 'Too many previews are being made; try again soon.');
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else underWay += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else underWay -= 1;
  }
}
