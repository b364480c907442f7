import type { FileStore } from '../../storage/storage.ts';
import type { UrlSigner } from './signed-urls.ts';

/** What the service needs to take files and to give them out. */
export interface Files {
  readonly store: FileStore;
  readonly signer: UrlSigner;
  /** The largest attachment. */
  readonly limitBytes: number;
}

/** The same for one request, which knows where its client reaches the files. */
export interface RequestFiles extends Files {
  /** What signed URLs begin with: `https://files.example.com`. */
  readonly baseUrl: string;
}
