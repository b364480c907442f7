import { AppError } from '../errors.ts';
import { FairPermit } from './fair-permit.ts';
import { PictureProcess } from './preview-process.ts';

/** The largest image that is read into memory. */
export const maxImageBytes = 32 * 1024 * 1024;

/** Images are drawn one at a time, because one may take seconds. The workspaces take turns. */
const permit = new FairPermit({ maxWaiting: 200, maxWaitingPerGroup: 50 });

/** The longest side of a preview, in pixels. */
const side = 1024;

/** An upper bound: the size of an uncompressed preview. */
export const maxPictureBytes = side * side * 4;

/**
 * Enough for 50 million pixels with four channels of 8 bits. A child needs about as much memory again for everything
 * else.
 */
const pictures = new PictureProcess({
  maxPixels: 50_000_000,
  maxDecodedBytes: 200_000_000,
  maxProcessBytes: 500_000_000,
  side,
  seconds: 5,
});

/**
 * Draws the preview of an image in WebP, rotated upright and without metadata. Undefined if the file is not an image
 * that can be decoded, if it would need too much memory, or if it crashed the process that decodes it.
 */
export async function drawPicture(
  workspaceId: string,
  read: () => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  const draw = async () => {
    const image = await read();
    return image && pictures.draw(image);
  };
  return permit.run(workspaceId, draw, refuse);
}

/** Too many images wait to be drawn. */
export class TooManyPicturesError extends AppError {
  constructor() {
    super('unavailable', 'Too many previews are being made; try again soon.');
  }
}

function refuse(): never {
  throw new TooManyPicturesError();
}
