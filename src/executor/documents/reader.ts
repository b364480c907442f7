import {
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  OperationTypeNode,
  parse,
  Source,
  TokenKind,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { tooComplex } from '../answers/too-complex.ts';
import { InvalidRequest } from '../invalid-request.ts';
import { DocumentSource, lineStartsOf, addLocations } from './document-source.ts';
import { checkSize, cacheSizeOf } from './document-size.ts';
import { documentCacheSize, maxLines, maxNameLength, maxNesting, maxTokens } from '../limits.ts';
import { allRules } from './validation-rules.ts';
import { visitNodes } from './visit-nodes.ts';

/**
 * Reads and validates the documents of clients against one schema. A valid one is cached when it is read for the second
 * time. The time and the stack that a text can take are bounded.
 */
export class DocumentReader {
  readonly #schema: GraphQLSchema;
  readonly #documents = new LRUCache<string, DocumentNode>(documentCacheSize);
  /**
   * Texts that were read once. A document with its plans takes a hundred times the memory of its text, so caching those that are
   * never sent again would have the garbage collector move and free far more than the answers need.
   */
  readonly #readOnce = new LRUCache<string, true>(documentCacheSize);
  /**
   * The documents of subscriptions by their texts, while a stream uses them. Equal streams are found by their document, and share
   * their reads, even after other documents have pushed it out of the cache.
   */
  readonly #subscribed = new Map<string, WeakRef<DocumentNode>>();
  readonly #unused = new FinalizationRegistry<string>((text) => {
    // The text may have been read again in the meantime.
    if (!this.#subscribed.get(text)?.deref()) this.#subscribed.delete(text);
  });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** The number of cached documents. */
  get size(): number {
    return this.#documents.size;
  }

  /** Whether `read` would answer from the cache. */
  knows(text: string): boolean {
    return this.#documents.has(text) || this.#subscribed.get(text)?.deref() !== undefined;
  }

  /** Throws a GraphQLError for wrong syntax, or an InvalidRequest. */
  read(text: string): DocumentNode {
    const known = this.#documents.get(text);
    if (known) return known;
    const document = this.#subscribed.get(text)?.deref() ?? this.#readNew(text);
    if (this.#readOnce.delete(text))
      this.#documents.set(text, document, { size: cacheSizeOf(document, text) });
    else this.#readOnce.set(text, true, { size: text.length });
    return document;
  }

  #readNew(text: string): DocumentNode {
    const document = parseText(new Source(text));
    checkSize(document);
    simplifyLocations(document, new DocumentSource(text));
    const errors = validate(this.#schema, document, [allRules]);
    // With this error, graphql-js stops comparing selections, because too many have the same name.
    if (errors.at(-1)?.message === 'Validation aborted.') {
      tooComplex('The selections repeat each other too often to be compared.');
    }
    if (errors.length > 0)
      throw new InvalidRequest('The document does not fit the schema.', errors.map(asValidationError));
    if (document.definitions.some(isSubscription)) {
      this.#subscribed.set(text, new WeakRef(document));
      this.#unused.register(document, text);
    }
    return document;
  }
}

function isSubscription(definition: DefinitionNode): boolean {
  return (
    definition.kind === Kind.OPERATION_DEFINITION && definition.operation === OperationTypeNode.SUBSCRIPTION
  );
}

/**
 * Replaces the source of all nodes, and deletes their tokens. Errors need only the position of a node; its tokens are linked
 * to all tokens of the text, which take a tenth of the memory of a cached document.
 */
function simplifyLocations(document: DocumentNode, source: DocumentSource): void {
  visitNodes(document, ({ loc }) => {
    if (loc) Object.assign(loc, { source, startToken: undefined, endToken: undefined });
  });
}

/** The change of the nesting at each bracket. The nesting of selections and that of literals are counted separately. */
const brackets: ReadonlyMap<string, 1 | -1> = new Map([
  [TokenKind.BRACE_L, 1],
  [TokenKind.BRACKET_L, 1],
  [TokenKind.BRACE_R, -1],
  [TokenKind.BRACKET_R, -1],
]);

/** Parses a text; throws a GraphQLError for wrong syntax. */
export function parseText(source: Source): DocumentNode {
  try {
    checkTokens(source);
    return parse(source);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const { message, positions } = error;
    const extensions = { code: 'GRAPHQL_PARSE_FAILED' };
    throw addLocations(
      new GraphQLError(message, { source: new DocumentSource(source.body), positions, extensions }),
    );
  }
}

/** The error with its code. `Too many errors`, the last of many errors, has no nodes. */
function asValidationError({ message, nodes }: GraphQLError): GraphQLError {
  return addLocations(
    new GraphQLError(message, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }),
  );
}

/**
 * Checks the lines and the tokens before parsing, since parsing a text that is nested a few thousand levels deep overflows the
 * stack. Brackets within parentheses, which hold arguments and variables, belong to literals and types.
 */
function checkTokens(source: Source): void {
  if (lineStartsOf(source.body).length > maxLines) {
    const max = maxLines.toLocaleString('en');
    tooComplex(`The document has more than ${max} lines. Leave out empty lines and comments.`);
  }
  const lexer = new Lexer(source);
  let parentheses = 0;
  let selections = 0;
  let literals = 0;
  for (let tokens = 0; lexer.advance().kind !== TokenKind.EOF; tokens += 1) {
    if (tokens >= maxTokens) tooComplex(`The document has more than ${maxTokens} tokens.`);
    const { kind, value } = lexer.token;
    if (kind === TokenKind.NAME && value.length > maxNameLength)
      tooComplex(`A name or an alias has more than ${maxNameLength} characters.`);
    if (kind === TokenKind.PAREN_L) parentheses += 1;
    else if (kind === TokenKind.PAREN_R) parentheses = Math.max(parentheses - 1, 0);
    else if (parentheses > 0) literals += brackets.get(kind) ?? 0;
    else selections += brackets.get(kind) ?? 0;
    if (parentheses === 0) literals = 0;
    if (literals > maxNesting) tooComplex(`A literal is nested more than ${maxNesting} deep.`);
    if (Math.max(selections, parentheses) > maxNesting) {
      tooComplex(`The document is nested more than ${maxNesting} deep.`);
    }
  }
}
