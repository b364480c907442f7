import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { type AttachmentRow, contentKey, previewKey } from '../../db/attachments.ts';
import type { FileStore } from '../../storage/storage.ts';
import { extensionOf, languageOfName, languageOfType } from './code-languages.ts';
import { previewKind } from '../../model/codes.ts';
import { drawPicture, mostImageBytes } from './preview-pictures.ts';
import { headBytes, headOfText } from './preview-texts.ts';

/** What a row says of its preview. */
export type PreviewColumns = Pick<AttachmentRow, 'previewKind' | 'codeLanguage'>;

/** What is shown of an attachment; `content` is the bytes that were uploaded. */
export type Preview = { contentType: string; bytes: Buffer } | { contentType: string; from: 'content' };

type File = Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision' | 'fileName' | 'contentType' | 'sizeBytes'>;

/**
 * Which preview an uploaded file has: what its name and type promise, if its bytes keep that. The picture of an image
 * is made now, so that what the row says can be shown.
 */
export async function findPreview(store: FileStore, file: File): Promise<PreviewColumns> {
  const promised = promisedPreview(file);
  const shown = await showPreview(store, { ...file, ...promised });
  return shown ? promised : none;
}

/** The preview that the row says; undefined when the bytes turn out not to have it. */
export async function showPreview(
  store: FileStore,
  file: File & PreviewColumns,
): Promise<Preview | undefined> {
  switch (file.previewKind) {
    case previewKind.image:
      return showPicture(store, file);
    case previewKind.text:
    case previewKind.code:
      return showText(store, file);
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

/** The type of an image or PDF goes before the name; else the name before the type, which is often a guess of it. */
function promisedPreview({ fileName, contentType }: File): PreviewColumns {
  if (imageTypes.test(contentType)) return image;
  if (contentType === 'application/pdf') return pdf;
  const extension = extensionOf(fileName);
  const named = languageOfName(fileName);
  if (named) return code(named);
  if (Object.hasOwn(byExtension, extension)) return byExtension[extension] ?? none;
  const typed = languageOfType(contentType);
  if (typed) return code(typed);
  return contentType.startsWith('text/') ? text : none;
}

function code(codeLanguage: string): PreviewColumns {
  return { previewKind: previewKind.code, codeLanguage };
}

/** The head as plain text, so that HTML and SVG are read and never run. */
async function showText(store: FileStore, file: File): Promise<Preview | undefined> {
  const head = await readHead(store, file);
  const shown = head && headOfText(head, head.length >= file.sizeBytes);
  return shown === undefined
    ? undefined
    : { contentType: 'text/plain; charset=utf-8', bytes: Buffer.from(shown) };
}

async function startsAsPdf(store: FileStore, file: File): Promise<boolean> {
  const head = await readHead(store, file);
  return head?.subarray(0, 1024).includes('%PDF-') ?? false;
}

async function readHead(store: FileStore, file: File): Promise<Buffer | undefined> {
  if (file.sizeBytes === 0) return Buffer.alloc(0);
  const bytes = await store.get(contentKey(file), { start: 0, end: Math.min(file.sizeBytes, headBytes) - 1 });
  return bytes && buffer(bytes);
}

const drawing = new Map<string, Promise<Buffer | undefined>>();

/** The picture from the store; made now when it is not there, once for all who ask. */
async function showPicture(store: FileStore, file: File): Promise<Preview | undefined> {
  if (file.sizeBytes > mostImageBytes) return undefined;
  const key = previewKey(file);
  const kept = await store.get(key);
  const bytes = kept ? await buffer(kept) : await (drawing.get(key) ?? draw(store, file, key));
  return bytes && { contentType: 'image/webp', bytes };
}

function draw(store: FileStore, file: File, key: string): Promise<Buffer | undefined> {
  const drawn = drawPicture(async () => {
    const content = await store.get(contentKey(file));
    return content && buffer(content);
  })
    .then(async (picture) => {
      if (picture) await store.put(key, Readable.from([picture]), picture.length);
      return picture;
    })
    .finally(() => drawing.delete(key));
  drawing.set(key, drawn);
  return drawn;
}
