import type { FileStore } from '../../storage/storage.ts';
import type { UrlSigner } from './signed-urls.ts';

/** The parts that receiving and serving files needs. */
export interface Files {
  readonly store: FileStore;
  readonly signer: UrlSigner;
  /** The maximum size of an attachment. */
  readonly limitBytes: number;
}

/** The same for one request, with the base URL that its client uses. */
export interface RequestFiles extends Files {
  /** The beginning of signed URLs: `https://files.example.com`. */
  readonly baseUrl: string;
}
