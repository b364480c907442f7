import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { type AttachmentRow, contentKey, previewKey } from '../../db/attachments.ts';
import { extensionOf, languageOfName } from '../../resolvers/attachments/code-languages.ts';
import { findPreview, type PreviewColumns } from '../../resolvers/attachments/previews.ts';
import type { FileStore } from '../../storage/storage.ts';

/** An attachment whose bytes are to be put into the store. */
interface NewFile
  extends Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision' | 'fileName' | 'contentType'> {
  /** The path of its bytes, relative to the directory of the imported file. */
  readonly file: string;
}

export type StoredFile = Pick<AttachmentRow, 'sizeBytes'> & PreviewColumns;

/** Brings the bytes of attachments from a directory into the store. */
export class ImportFiles {
  readonly #store: FileStore;
  readonly #directory: string;
  readonly #keys: string[] = [];
  #realDirectory: Promise<string> | undefined;
  /** The previews of files that were stored, by path and by what else decides on them. */
  readonly #previews = new Map<string, Promise<PreviewColumns>>();

  constructor(store: FileStore, directory: string) {
    this.#store = store;
    this.#directory = directory;
  }

  /** How many objects were put into the store so far. */
  get count(): number {
    return this.#keys.length;
  }

  /** Puts the bytes into the store and finds their preview; says in words why there are none. */
  async add(file: NewFile): Promise<StoredFile | { missing: string }> {
    const path = await this.#find(file.file);
    if (path === undefined) return { missing: `the file ${file.file} is not beside the imported one` };
    const { size: sizeBytes } = await stat(path);
    this.#keys.push(contentKey(file), previewKey(file));
    await this.#store.put(contentKey(file), createReadStream(path), sizeBytes);
    return { sizeBytes, ...(await this.#preview(path, { ...file, sizeBytes })) };
  }

  /** Looks at a file that several attachments have only once; the picture of the others is made when it is asked for. */
  #preview(path: string, file: NewFile & Pick<AttachmentRow, 'sizeBytes'>): Promise<PreviewColumns> {
    const { contentType, fileName } = file;
    const key = JSON.stringify([path, contentType, extensionOf(fileName), languageOfName(fileName)]);
    const known = this.#previews.get(key) ?? findPreview(this.#store, file);
    this.#previews.set(key, known);
    return known;
  }

  /** Removes from the store what was put there after so many objects, because its rows were not written. */
  async removeAfter(count: number): Promise<void> {
    for (const key of this.#keys.splice(count)) await this.#store.remove(key);
  }

  /** The real path of a regular file within the directory: an imported file must not read others of the machine. */
  async #find(file: string): Promise<string | undefined> {
    this.#realDirectory ??= realpath(this.#directory);
    const found = await realFile(resolve(this.#directory, file));
    return found?.startsWith(`${await this.#realDirectory}${sep}`) ? found : undefined;
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
