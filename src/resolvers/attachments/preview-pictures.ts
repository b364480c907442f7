import { Semaphore } from '../../db/engine/semaphore.ts';
import { raise } from '../errors.ts';
import { PictureProcess } from './preview-process.ts';

/** The largest image that is read into memory. */
export const maxImageBytes = 32 * 1024 * 1024;

/** The maximum number of images that wait while another one is drawn. */
const maxWaiting = 50;
const permit = new Semaphore(1, maxWaiting);

/**
 * Enough for 50 million pixels with four channels of 8 bits. A child needs about as much memory again for everything
 * else.
 */
const pictures = new PictureProcess({
  maxPixels: 50_000_000,
  maxDecodedBytes: 200_000_000,
  maxProcessBytes: 500_000_000,
  side: 1024,
});

/**
 * Draws the preview of an image in WebP, rotated upright and without metadata. Undefined if the file is not an image
 * that can be decoded, if it would need too much memory, or if it crashed the process that decodes it.
 */
export async function drawPicture(read: () => Promise<Buffer | undefined>): Promise<Buffer | undefined> {
  return permit.run(async () => {
    const image = await read();
    return image && pictures.draw(image);
  }, refuse);
}

function refuse(): never {
  raise('unavailable', 'Too many previews are being made; try again soon.');
}
