import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { raise } from '../../resolvers/errors.ts';
import type { DocumentReader } from './reader.ts';
import { documentCacheSize } from '../limits.ts';
import { cacheSizeOf } from './document-size.ts';
import { hashOf, type Manifest } from './manifest.ts';

/** How a request names its document: by its text, its id, or both, which registers the text under the id. */
export interface NamedDocument {
  readonly query?: string | undefined;
  /** Its id in a manifest, or the SHA-256 of its text in lower-case hexadecimal. */
  readonly documentId?: string | undefined;
}

/** Documents that the operator gave the server. */
export interface TrustedDocuments {
  readonly manifest: Manifest;
  /** The documents of the server's own pages, which are read when they are first asked for. */
  readonly own?: Manifest | undefined;
  /** Whether every other document is refused. */
  readonly refusesOthers: boolean;
}

/**
 * Finds the documents that requests name. Documents that clients registered (automatic persisted queries) are cached in
 * this process; those of a manifest stay in memory.
 */
export class PersistedDocuments {
  readonly #reader: DocumentReader;
  readonly #only: boolean;
  readonly #manifest: Manifest;
  readonly #trusted = new Map<string, DocumentNode>();
  readonly #registered = new LRUCache<string, DocumentNode>(documentCacheSize);

  /** `onInvalid` receives the invalid documents of the manifest; a request that names one gets the same error. */
  constructor(
    reader: DocumentReader,
    { manifest, own = new Map(), refusesOthers }: TrustedDocuments = {
      manifest: new Map(),
      refusesOthers: false,
    },
    onInvalid: (documentId: string, error: unknown) => void = () => {},
  ) {
    this.#reader = reader;
    this.#manifest = new Map([...own, ...manifest]);
    this.#only = refusesOthers;
    for (const [id, text] of manifest) {
      try {
        this.#trusted.set(id, reader.read(text));
      } catch (error) {
        onInvalid(id, error);
      }
    }
  }

  /**
   * Returns the valid document. `mayRegister` says whether this request may put it into the cache, since that can evict others.
   * Throws the errors of an invalid document, `invalid_request`, or `persisted_query_not_found`.
   */
  find({ query, documentId }: NamedDocument, mayRegister: boolean): DocumentNode {
    if (this.#only) return this.#findTrusted({ query, documentId });
    if (documentId === undefined) return this.#reader.read(query ?? '');
    const known = this.#trusted.get(documentId) ?? this.#registered.get(documentId);
    if (query === undefined) return known ?? this.#fromManifest(documentId) ?? notFound(notRegistered);
    if (query !== this.#manifest.get(documentId) && hashOf(query) !== documentId)
      raise('invalid_request', 'The hash does not match the query.');
    if (known) return known;
    const document = this.#reader.read(query);
    if (mayRegister) this.#registered.set(documentId, document, { size: cacheSizeOf(document, query) });
    return document;
  }

  /** The text that `find` would parse and validate, which takes milliseconds; undefined if it would do neither. */
  newText({ query, documentId }: NamedDocument): string | undefined {
    if (this.#only && query !== undefined) return undefined;
    if (documentId !== undefined && (this.#trusted.has(documentId) || this.#registered.has(documentId)))
      return undefined;
    const text = query ?? (documentId === undefined ? undefined : this.#manifest.get(documentId));
    return text !== undefined && this.#reader.knows(text) ? undefined : text;
  }

  /** Whether the manifest has the document, so that metrics may contain its id: there are few. */
  isTrusted({ documentId }: NamedDocument): boolean {
    return documentId !== undefined && this.#trusted.has(documentId);
  }

  #findTrusted({ query, documentId }: NamedDocument): DocumentNode {
    if (query !== undefined || documentId === undefined) {
      raise(
        'invalid_request',
        'This server accepts only the documents of its manifest: send a documentId, and no query.',
      );
    }
    return (
      this.#trusted.get(documentId) ??
      this.#fromManifest(documentId) ??
      notFound('The manifest of this server has no document with this id.')
    );
  }

  /** Throws the error of an invalid document. */
  #fromManifest(documentId: string): DocumentNode | undefined {
    const text = this.#manifest.get(documentId);
    return text === undefined ? undefined : this.#reader.read(text);
  }
}

/** The message of Apollo's protocol that makes clients send the text as well. */
const notRegistered = 'PersistedQueryNotFound';

function notFound(message: string): never {
  raise('persisted_query_not_found', message);
}
