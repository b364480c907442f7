import { openStorage } from '../storage/open-storage.ts';
import type { Files } from '../resolvers/attachments/files.ts';
import { UrlSigner } from '../resolvers/attachments/signed-urls.ts';
import type { Config } from './config.ts';
import { readSigningKeys } from './signing-keys.ts';

/** The store of files, with what a server needs to serve them. */
export interface ServerFiles extends Files {
  /** An origin that serves only files; that of the service when undefined. */
  readonly filesUrl: string | undefined;
}

type FilesConfig = Pick<
  Config,
  'dataDir' | 'storageUrl' | 'signingKeys' | 'filesUrl' | 'attachmentLimitBytes'
>;

/** Opens the store and reads the signing keys. The first start creates a key. */
export function openFiles(config: FilesConfig): ServerFiles {
  return {
    store: openStorage(config),
    signer: new UrlSigner(readSigningKeys(config)),
    limitBytes: config.attachmentLimitBytes,
    filesUrl: config.filesUrl,
  };
}
