import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { type AttachmentRow, contentKey, previewKey } from '../../db/attachments.ts';
import { extensionOf, languageOfName } from '../../resolvers/attachments/code-languages.ts';
import { findPreview, type PreviewColumns } from '../../resolvers/attachments/previews.ts';
import type { FileStore } from '../../storage/storage.ts';

/** An attachment whose file is to be stored. */
interface NewFile
  extends Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision' | 'fileName' | 'contentType'> {
  /** The path of the file, relative to the directory of the imported file. */
  readonly file: string;
}

export type StoredFile = Pick<AttachmentRow, 'sizeBytes'> & PreviewColumns;

/** Copies the files of attachments from a directory to the store. */
export class ImportFiles {
  readonly #store: FileStore;
  readonly #directory: string;
  readonly #keys: string[] = [];
  #realDirectory: Promise<string> | undefined;
  /** The previews of the stored files, by path, media type, extension and language, which determine the preview. */
  readonly #previews = new Map<string, Promise<PreviewColumns>>();

  constructor(store: FileStore, directory: string) {
    this.#store = store;
    this.#directory = directory;
  }

  /** The number of objects that were stored so far. */
  get count(): number {
    return this.#keys.length;
  }

  /** Stores a file and finds its preview. Returns a message if the file is missing. */
  async add(file: NewFile): Promise<StoredFile | { missing: string }> {
    const path = await this.#find(file.file);
    if (path === undefined)
      return { missing: `the file ${file.file} is not in the directory of the imported file` };
    const { size: sizeBytes } = await stat(path);
    this.#keys.push(contentKey(file), previewKey(file));
    await this.#store.put(contentKey(file), createReadStream(path), sizeBytes);
    return { sizeBytes, ...(await this.#preview(path, { ...file, sizeBytes })) };
  }

  /**
   * Examines a file only once, even if several attachments have it. The preview picture of the others is made when it
   * is requested.
   */
  #preview(path: string, file: NewFile & Pick<AttachmentRow, 'sizeBytes'>): Promise<PreviewColumns> {
    const { contentType, fileName } = file;
    const key = JSON.stringify([path, contentType, extensionOf(fileName), languageOfName(fileName)]);
    const known = this.#previews.get(key) ?? findPreview(this.#store, file);
    this.#previews.set(key, known);
    return known;
  }

  /** Removes all stored objects after the first `count`, because their rows were not written. */
  async removeAfter(count: number): Promise<void> {
    for (const key of this.#keys.splice(count)) await this.#store.remove(key);
  }

  /** The real path of a regular file in the directory. An import must not read any other file of the machine. */
  async #find(file: string): Promise<string | undefined> {
    const directory = await (this.#realDirectory ??= realpath(this.#directory));
    const found = await realFile(resolve(this.#directory, file));
    return found?.startsWith(`${directory}${sep}`) ? found : undefined;
  }
}

async function realFile(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isFile() ? real : undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'].includes(code))
      return undefined;
    throw error;
  }
}
