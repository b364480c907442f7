/**
 * What one request may be and what one caller may ask for: all limits on size, shape, cost and rate are here, and
 * docs/limits.md tells clients of them. Limits of single values (a title, a page) stand with their rules.
 */

/** The largest body of a request, in bytes. */
export const maxBodyBytes = 1_000_000;

/** How deep JSON may be nested, in a body or in variables, and how deep the brackets of a document, literals apart. */
export const maxNesting = 32;

/** A document's text with more tokens than this is refused unparsed. */
export const maxTokens = 5_000;

/** Documents are remembered with what they parsed to, and those that clients named by their hash, up to so much text. */
export const maxCachedCharacters = 150_000;

/** How deep the selections of an operation may go, through its fragments. */
export const maxDepth = 15;

/** The same below `__schema` and `__type`, so that the standard introspection query passes, with room for its next version. */
export const maxIntrospectionDepth = 20;

/** How many directives may stand on one field, fragment, variable or operation. */
export const maxDirectives = 5;

/** How many fields an operation may select, each fragment counted where it is spread. */
export const maxFields = 5_000;

/** How many fields the operation itself may have, and how many pages in all: each is a statement or more. */
export const maxRootFields = 200;
export const maxPages = 200;

/** How often one selection set may ask for the same name; validation compares them pair by pair. */
export const maxRepeats = 50;

/** What a plain list counts for each object that it belongs to: nobody can say before it is read. */
export const plainListCost = 5;

/** The largest cost of one operation, where the server is not told another. */
export const defaultOperationCost = 10_000;

/** How many queries graphql-js answers at once where it stands in for the compiled executor, and how many may wait. */
export const maxFallbacks = 8;
export const maxWaitingFallbacks = 100;

/** What one caller may do, where the server is not told otherwise. */
export const defaultRates = { requestsPerMinute: 6_000, costPerHour: 10_000_000 };
