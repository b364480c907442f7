import { openStorage } from '../storage/open-storage.ts';
import type { Files } from '../resolvers/attachments/files.ts';
import { UrlSigner } from '../resolvers/attachments/signed-urls.ts';
import type { Config } from './config.ts';
import { readSigningKeys } from './signing-keys.ts';

/** Files as a server is given them. */
export interface ServerFiles extends Files {
  /** An origin that serves files and nothing else; the service's own when undefined. */
  readonly filesUrl: string | undefined;
}

type FilesConfig = Pick<
  Config,
  'dataDir' | 'storageUrl' | 'signingKeys' | 'filesUrl' | 'attachmentLimitBytes'
>;

/** Opens the store and reads the keys, which the first start makes. */
export function openFiles(config: FilesConfig): ServerFiles {
  return {
    store: openStorage(config),
    signer: new UrlSigner(readSigningKeys(config)),
    limitBytes: config.attachmentLimitBytes,
    filesUrl: config.filesUrl,
  };
}
