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
import { LRUCache } from 'lru-cache';
import { AppError } from '../resolvers/errors.ts';
import { checkSize } from './document-size.ts';
import { documentCacheSize, maxNesting, maxTokens } from './limits.ts';
import { allRules } from './validation-rules.ts';
import { walk } from './walk.ts';

/**
 * Reads and validates the documents of clients against one schema, remembering those that were good.
 * However hostile the text, it costs a bounded time and no stack.
 */
export class DocumentReader {
  readonly #schema: GraphQLSchema;
  readonly #documents = new LRUCache<string, DocumentNode>(documentCacheSize);

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** How many documents are remembered. */
  get size(): number {
    return this.#documents.size;
  }

  /** Says whether `read` would answer from memory. */
  knows(text: string): boolean {
    return this.#documents.has(text);
  }

  /** Throws what is wrong with it: one GraphQLError of syntax, or an InvalidDocument. */
  read(text: string): DocumentNode {
    const known = this.#documents.get(text);
    if (known) return known;
    const document = this.#readNew(text);
    this.#documents.set(text, document, { size: text.length });
    return document;
  }

  #readNew(text: string): DocumentNode {
    const document = parseText(new Source(text));
    checkSize(document);
    const errors = validate(this.#schema, document, [allRules]);
    // graphql-js gives up, with no place in the document, on selections that it cannot compare in reasonable time.
    if (errors.some(({ nodes }) => !nodes) && errors.length === 1) {
      tooComplex('The selections repeat each other too often to be compared.');
    }
    if (errors.length > 0) throw new InvalidDocument(errors.map(asInvalid));
    forgetTokens(document);
    return document;
  }
}

/**
 * Of where a node stands, errors tell the line and the column, which its start says. Its tokens lead to all tokens of
 * the text, a tenth of what a document that is remembered would take.
 */
function forgetTokens(document: DocumentNode): void {
  walk(document, ({ loc }) => {
    if (loc) Object.assign(loc, { startToken: undefined, endToken: undefined });
  });
}

/** Everything that validation found. */
export class InvalidDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The document does not fit the schema.');
    this.errors = errors;
  }
}

/** Brackets by whether they open or close; those of selections are nested apart from those of literals. */
const brackets: ReadonlyMap<string, 1 | -1> = new Map([
  [TokenKind.BRACE_L, 1],
  [TokenKind.BRACKET_L, 1],
  [TokenKind.BRACE_R, -1],
  [TokenKind.BRACKET_R, -1],
]);

/** Its syntax alone; throws when there is something wrong with it. */
export function parseText(source: Source): DocumentNode {
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

/**
 * On the tokens alone: parsing what is nested some thousand deep would overflow the stack. Within parentheses, which
 * hold arguments and variables, brackets are those of literals and types.
 */
function checkTokens(source: Source): void {
  const lexer = new Lexer(source);
  let parentheses = 0;
  let selections = 0;
  let literals = 0;
  for (let tokens = 0; lexer.advance().kind !== TokenKind.EOF; tokens += 1) {
    if (tokens >= maxTokens) tooComplex(`The document has more than ${maxTokens} tokens.`);
    const { kind } = lexer.token;
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

function tooComplex(message: string): never {
  throw new AppError('query_too_complex', message);
}
