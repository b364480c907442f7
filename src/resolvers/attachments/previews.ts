import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { type AttachmentRow, contentKey, previewKey } from '../../db/attachments.ts';
import { readFirstBytes } from '../../storage/first-bytes.ts';
import { withExactLength } from '../../storage/exact-length.ts';
import { type FileStore, StorageUnavailableError } from '../../storage/storage.ts';
import { extensionOf, languageOfName, languageOfType } from './code-languages.ts';
import { previewKind } from '../../model/codes.ts';
import { drawPicture, maxImageBytes, maxPictureBytes, TooManyPicturesError } from './preview-pictures.ts';
import { headBytes, headOfText } from './preview-texts.ts';

/** The columns of an attachment that describe its preview. */
export type PreviewColumns = Pick<AttachmentRow, 'previewKind' | 'codeLanguage'>;

/** A preview: bytes of its own, or the uploaded bytes (`content`). */
export type Preview = { contentType: string; bytes: Buffer } | { contentType: string; from: 'content' };

type File = Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision' | 'fileName' | 'contentType' | 'sizeBytes'>;

/**
 * Determines the preview of an uploaded file from its name and type, and checks that the bytes match. The picture of an
 * image is drawn now, so that the preview is sure to exist. If too many pictures wait to be drawn, the first request for
 * the preview draws it.
 */
export async function findPreview(store: FileStore, file: File): Promise<PreviewColumns> {
  const expected = expectedPreview(file);
  try {
    const preview = await readPreview(store, { ...file, ...expected });
    return preview ? expected : none;
  } catch (error) {
    if (error instanceof TooManyPicturesError) return expected;
    throw error;
  }
}

/** The preview of an attachment; undefined if the bytes do not match its kind. */
export async function readPreview(
  store: FileStore,
  file: File & PreviewColumns,
): Promise<Preview | undefined> {
  switch (file.previewKind) {
    case previewKind.image:
      return readOrDrawPicture(store, file);
    case previewKind.text:
    case previewKind.code:
      return readText(store, file);
    case previewKind.pdf:
      return (await startsAsPdf(store, file))
        ? { contentType: 'application/pdf', from: 'content' }
        : undefined;
    default:
      return undefined;
  }
}

const none: PreviewColumns = { previewKind: previewKind.none, codeLanguage: null };
const image: PreviewColumns = { previewKind: previewKind.image, codeLanguage: null };
const text: PreviewColumns = { previewKind: previewKind.text, codeLanguage: null };
const pdf: PreviewColumns = { previewKind: previewKind.pdf, codeLanguage: null };

const imageTypes = /^image\/(png|jpeg|gif|webp|avif|heic|tiff)$/;
const byExtension: Readonly<Record<string, PreviewColumns>> = {
  ...Object.fromEntries(
    ['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'tif', 'tiff'].map((end) => [end, image]),
  ),
  ...Object.fromEntries(['txt', 'log', 'csv', 'tsv', 'md', 'rst', 'adoc', 'srt'].map((end) => [end, text])),
  pdf,
};

/**
 * For images and PDF the media type takes precedence. Otherwise the name does, because the type is often guessed from
 * it.
 */
function expectedPreview({ fileName, contentType }: File): PreviewColumns {
  if (imageTypes.test(contentType)) return image;
  if (contentType === 'application/pdf') return pdf;
  const extension = extensionOf(fileName);
  const nameLanguage = languageOfName(fileName);
  if (nameLanguage) return code(nameLanguage);
  if (Object.hasOwn(byExtension, extension)) return byExtension[extension] ?? none;
  const typeLanguage = languageOfType(contentType);
  if (typeLanguage) return code(typeLanguage);
  return contentType.startsWith('text/') ? text : none;
}

function code(codeLanguage: string): PreviewColumns {
  return { previewKind: previewKind.code, codeLanguage };
}

/** The beginning of the file as plain text, so that a browser never executes HTML and SVG. */
async function readText(store: FileStore, file: File): Promise<Preview | undefined> {
  const head = await readHead(store, file);
  const beginning = head && headOfText(head, head.length >= file.sizeBytes);
  return beginning === undefined
    ? undefined
    : { contentType: 'text/plain; charset=utf-8', bytes: Buffer.from(beginning) };
}

async function startsAsPdf(store: FileStore, file: File): Promise<boolean> {
  const head = await readHead(store, file);
  return head?.subarray(0, 1024).includes('%PDF-') ?? false;
}

async function readHead(store: FileStore, file: File): Promise<Buffer | undefined> {
  if (file.sizeBytes === 0) return Buffer.alloc(0);
  const count = Math.min(file.sizeBytes, headBytes);
  const bytes = await store.get(contentKey(file), { start: 0, end: count - 1 });
  return bytes && buffer(withExactLength(count, bytes));
}

const drawingsInProgress = new Map<string, Promise<Buffer | undefined>>();

/** The picture from the store. If it is missing, it is drawn now, only once for simultaneous requests. */
async function readOrDrawPicture(store: FileStore, file: File): Promise<Preview | undefined> {
  if (file.sizeBytes > maxImageBytes) return undefined;
  const key = previewKey(file);
  const stored = await store.get(key);
  const bytes = stored
    ? await readPicture(stored)
    : await (drawingsInProgress.get(key) ?? draw(store, file, key));
  return bytes && { contentType: 'image/webp', bytes };
}

/**
 * The bytes of a stored picture. The database does not record their number, but the header of a WebP file does, so that
 * an incomplete file is recognized.
 */
async function readPicture(stored: AsyncIterable<Buffer>): Promise<Buffer> {
  const bytes = await readFirstBytes(stored, maxPictureBytes + 1);
  const isWhole = bytes.length >= webpHeader && bytes.readUInt32LE(4) + 8 === bytes.length;
  if (!isWhole || bytes.length > maxPictureBytes || bytes.toString('latin1', 0, 4) !== 'RIFF')
    throw new StorageUnavailableError(
      'The store has sent something other than the preview that it was given.',
    );
  return bytes;
}

/** The letters `RIFF`, and the number of bytes after these eight. */
const webpHeader = 8;

function draw(store: FileStore, file: File, key: string): Promise<Buffer | undefined> {
  const drawn = drawPicture(file.workspaceId, async () => {
    const content = await store.get(contentKey(file));
    return content && buffer(withExactLength(file.sizeBytes, content));
  })
    .then(async (picture) => {
      if (picture) await store.put(key, Readable.from([picture]), picture.length);
      return picture;
    })
    .finally(() => drawingsInProgress.delete(key));
  drawingsInProgress.set(key, drawn);
  return drawn;
}
