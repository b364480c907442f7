import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type AttachmentRow, contentKey } from '../../db/attachments.ts';
import { extensionOf } from '../../resolvers/attachments/code-languages.ts';
import { encodeId } from '../../resolvers/ids.ts';
import type { FileStore } from '../../storage/storage.ts';

/** Writes the files of attachments to a directory, which the lines of the export refer to. */
export class ExportFiles {
  readonly #store: FileStore;
  readonly #directory: string;
  #missing = 0;

  constructor(store: FileStore, directory: string) {
    this.#store = store;
    this.#directory = directory;
  }

  /** The number of files that were not in the store. */
  get missing(): number {
    return this.#missing;
  }

  /** Writes a file and returns its path, relative to the parent directory; undefined if it is not in the store. */
  async save(attachment: AttachmentRow): Promise<string | undefined> {
    const bytes = await this.#store.get(contentKey(attachment));
    if (!bytes) {
      this.#missing += 1;
      return undefined;
    }
    const extension = extensionOf(attachment.fileName);
    const end = /^[a-z0-9]{1,10}$/.test(extension) ? `.${extension}` : '';
    const name = `${encodeId('attachment', attachment.id)}${end}`;
    await mkdir(this.#directory, { recursive: true });
    await pipeline(bytes, createWriteStream(join(this.#directory, name)));
    return `${basename(this.#directory)}/${name}`;
  }
}
