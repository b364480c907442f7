import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { raise } from '../resolvers/errors.ts';
import type { DocumentReader } from './document.ts';
import { documentCacheSize } from './limits.ts';
import { hashOf, type Manifest } from './manifest.ts';

/** How a request says which document it means: by its text, its id, or both, which asks to keep it under the id. */
export interface NamedDocument {
  readonly query?: string | undefined;
  /** What a manifest calls it, or the SHA-256 of its text in lower-case hexadecimal. */
  readonly documentId?: string | undefined;
}

/** Documents that were told to the server before it started. */
export interface TrustedDocuments {
  readonly manifest: Manifest;
  /** Is every other document refused. */
  readonly only: boolean;
}

/**
 * The documents that requests mean. What clients registered (automatic persisted queries) is kept in this process for
 * as long as there is room; what a manifest holds is kept for good.
 */
export class PersistedDocuments {
  readonly #reader: DocumentReader;
  readonly #only: boolean;
  readonly #manifest: Manifest;
  readonly #trusted = new Map<string, DocumentNode>();
  readonly #registered = new LRUCache<string, DocumentNode>(documentCacheSize);

  /** `onInvalid` hears of documents of the manifest that cannot be used: a request that names one is told why. */
  constructor(
    reader: DocumentReader,
    { manifest, only }: TrustedDocuments = { manifest: new Map(), only: false },
    onInvalid: (documentId: string, error: unknown) => void = () => {},
  ) {
    this.#reader = reader;
    this.#manifest = manifest;
    this.#only = only;
    for (const [id, text] of manifest) {
      try {
        this.#trusted.set(id, reader.read(text));
      } catch (error) {
        onInvalid(id, error);
      }
    }
  }

  /**
   * The document, valid by the schema. `mayRegister` is who may make the server keep it: nobody else can drive out
   * what is there. Throws what is wrong with the document, `invalid_request` and `persisted_query_not_found`.
   */
  find({ query, documentId }: NamedDocument, mayRegister: boolean): DocumentNode {
    if (this.#only) return this.#findTrusted({ query, documentId });
    if (documentId === undefined) return this.#reader.read(query ?? '');
    const known = this.#trusted.get(documentId) ?? this.#registered.get(documentId);
    if (query === undefined) return known ?? this.#fromManifest(documentId) ?? notFound(registerIt);
    if (query !== this.#manifest.get(documentId) && hashOf(query) !== documentId)
      raise('invalid_request', 'The hash is not that of the query.');
    if (known) return known;
    const document = this.#reader.read(query);
    if (mayRegister) this.#registered.set(documentId, document, { size: query.length });
    return document;
  }

  /** Says whether `find` would read a document, which takes milliseconds, rather than answer from memory or refuse. */
  isNew({ query, documentId }: NamedDocument): boolean {
    if (this.#only && query !== undefined) return false;
    const known =
      documentId !== undefined && (this.#trusted.has(documentId) || this.#registered.has(documentId));
    const text = query ?? (documentId === undefined ? undefined : this.#manifest.get(documentId));
    return !known && text !== undefined && !this.#reader.knows(text);
  }

  /** Is it one of the manifest, of which there are few, and whose names somebody has chosen. */
  isTrusted({ documentId }: NamedDocument): boolean {
    return documentId !== undefined && this.#trusted.has(documentId);
  }

  #findTrusted({ query, documentId }: NamedDocument): DocumentNode {
    if (query !== undefined || documentId === undefined) {
      raise(
        'invalid_request',
        'This server runs the documents of its manifest alone: send a documentId, and no query.',
      );
    }
    return (
      this.#trusted.get(documentId) ??
      this.#fromManifest(documentId) ??
      notFound('The manifest of this server has no document with this id.')
    );
  }

  /** Throws why it could not be used. */
  #fromManifest(documentId: string): DocumentNode | undefined {
    const text = this.#manifest.get(documentId);
    return text === undefined ? undefined : this.#reader.read(text);
  }
}

/** The word that clients of Apollo's protocol wait for: they then send the text along. */
const registerIt = 'PersistedQueryNotFound';

function notFound(message: string): never {
  raise('persisted_query_not_found', message);
}
