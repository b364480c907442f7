import { type DocumentNode, parse, print } from 'graphql';
import { invalidArgument } from './errors.ts';

/**
 * Documents by their ids: as `npx workgraph manifest` prints them, or an object of ids and texts, as GraphQL Code Generator
 * and Relay write it.
 */
export type Manifest =
  | { readonly operations: readonly { readonly id: string; readonly body: string }[] }
  | Readonly<Record<string, string>>;

/** How a request names its document. */
type NamedDocument = { readonly documentId: string } | { readonly query: string };

export type NameDocument = (document: DocumentNode | string) => NamedDocument;

/** Names documents by their ids, if the manifest has them, and otherwise by their texts. */
export function createDocumentNamer(manifest: Manifest = {}): NameDocument {
  const ids = new Map<string, string>();
  for (const [id, text] of entriesOf(manifest)) {
    const node = parseIfValid(text);
    if (!node) throw invalidArgument('documents', `must be a manifest; ${id} is not the id of a document.`);
    ids.set(comparableText(node), id);
  }
  return (document) => {
    const node = ids.size > 0 ? parseIfValid(document) : undefined;
    const documentId = node && ids.get(comparableText(node));
    if (documentId !== undefined) return { documentId };
    return { query: typeof document === 'string' ? document : print(document) };
  };
}

/** Undefined for a text that is not a document: only the server says what is wrong with it. */
export function parseIfValid(document: DocumentNode | string): DocumentNode | undefined {
  if (typeof document !== 'string') return document;
  try {
    return parse(document);
  } catch {
    return undefined;
  }
}

function entriesOf(manifest: Manifest): readonly (readonly [id: string, text: string])[] {
  return isPrinted(manifest)
    ? manifest.operations.map(({ id, body }) => [id, body])
    : Object.entries(manifest);
}

function isPrinted(manifest: Manifest): manifest is Extract<Manifest, { operations: readonly unknown[] }> {
  return Array.isArray(manifest['operations']);
}

/** A text that is the same for all texts of a document: its file may have comments and its fragments in another order. */
function comparableText({ definitions }: DocumentNode): string {
  return definitions
    .map((definition) => print(definition))
    .toSorted()
    .join('\n');
}
