import { Semaphore } from '../../db/engine/semaphore.ts';
import { raise } from '../errors.ts';
import { PictureProcess } from '../preview-process.ts';

/** The largest image that is read into memory. */
export const mostImageBytes = 32 * 1024 * 1024;

/** How many images may wait while another is drawn. */
const mostWaiting = 50;
const permit = new Semaphore(1, mostWaiting);

/** 50 million pixels of four channels of 8 bits, or fewer of more; a child takes about as much again for the rest. */
const pictures = new PictureProcess({
  maxPixels: 50_000_000,
  maxDecodedBytes: 200_000_000,
  maxProcessBytes: 500_000_000,
  side: 1024,
});

/**
 * A picture of an image in WebP, upright and without its metadata; undefined when it is no image that can be
 * decoded, one that unfolds into too much, or one that ended the process that decodes it.
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
