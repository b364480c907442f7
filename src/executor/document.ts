import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Lexer,
  parse,
  Source,
  TokenKind,
  validate,
} from 'graphql';
import { AppError } from '../resolvers/errors.ts';
import { checkSize } from './document-size.ts';

/** A document's text with more tokens than this, or brackets nested deeper, is refused unread. */
export const maxTokens = 5_000;
export const maxNesting = 100;

/** Texts of this length in all are remembered with what they parsed to; one may have a tenth. */
const maxCachedCharacters = 1_000_000;

/**
 * Reads and validates the documents of clients against one schema, remembering those that were good.
 * However hostile the text, it costs a bounded time and no stack.
 */
export class DocumentReader {
  readonly #schema: GraphQLSchema;
  readonly #documents = new Map<string, DocumentNode>();
  #cachedCharacters = 0;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Throws what is wrong with it: one GraphQLError of syntax, or an InvalidDocument. */
  read(text: string): DocumentNode {
    const known = this.#documents.get(text);
    if (known) {
      // Re-inserted, so that the map's order is that of last use.
      this.#documents.delete(text);
      this.#documents.set(text, known);
      return known;
    }
    const document = this.#readNew(text);
    this.#remember(text, document);
    return document;
  }

  #readNew(text: string): DocumentNode {
    const document = parseText(new Source(text));
    checkSize(document);
    const errors = validate(this.#schema, document);
    // graphql-js gives up, with no place in the document, on selections that it cannot compare in reasonable time.
    if (errors.some(({ nodes }) => !nodes) && errors.length === 1) {
      tooComplex('The selections repeat each other too often to be compared.');
    }
    if (errors.length > 0) throw new InvalidDocument(errors.map(asInvalid));
    return document;
  }

  #remember(text: string, document: DocumentNode): void {
    if (text.length > maxCachedCharacters / 10) return;
    this.#documents.set(text, document);
    this.#cachedCharacters += text.length;
    for (const oldest of this.#documents.keys()) {
      if (this.#cachedCharacters <= maxCachedCharacters) return;
      this.#documents.delete(oldest);
      this.#cachedCharacters -= oldest.length;
    }
  }
}

/** Everything that validation found. */
export class InvalidDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The document does not fit the schema.');
    this.errors = errors;
  }
}

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function parseText(source: Source): DocumentNode {
  try {
    checkTokens(source);
    return parse(source);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const { message, positions } = error;
    throw new GraphQLError(message, { source, positions, extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
  }
}

/** `Too many errors`, the last of many, has no place either; the code says what it is about. */
function asInvalid({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}

/** On the tokens alone: parsing what is nested some thousand deep would overflow the stack. */
function checkTokens(source: Source): void {
  const lexer = new Lexer(source);
  let nesting = 0;
  for (let tokens = 0; lexer.advance().kind !== TokenKind.EOF; tokens += 1) {
    if (tokens >= maxTokens) tooComplex(`The document has more than ${maxTokens} tokens.`);
    if (opening.has(lexer.token.kind)) nesting += 1;
    else if (closing.has(lexer.token.kind)) nesting -= 1;
    if (nesting > maxNesting) tooComplex(`The document is nested more than ${maxNesting} deep.`);
  }
}

function tooComplex(message: string): never {
  throw new AppError('query_too_complex', message);
}
