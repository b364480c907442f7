/**
 * What one request may be and what one caller may ask for: all limits on size, shape, cost and rate are here, and
 * docs/limits.md tells clients of them. Limits of single values (a title, a page) stand with their rules.
 */

/** The largest body of a request, in bytes. */
export const maxBodyBytes = 1_000_000;

/** How many items any list of an argument or of variables may have. Most take fewer, and say so themselves. */
export const maxListItems = 1_000;

/**
 * How many characters the arguments of one operation may hold together. A variable counts as often as it is used, so
 * no operation has to read more than a body could spell out; each value counts a few characters besides its text.
 */
export const maxInputCharacters = maxBodyBytes;
export const valueCharacters = 8;

/** How many conditions all filters of one operation may have together, counted in the same way. */
export const maxFilterConditions = 1_000;

/** A request with variables longer than this is told the first error in them alone: each quotes what it is about. */
export const longVariables = 10_000;
/** The names and values of all headers of a request together, in bytes. */
export const maxHeaderBytes = 16 * 1024;

/** The same with the address, which may be long: whatever the OpenAPI document allows of one operation's parameters fits. */
export const maxHeadBytes = 100 * 1024;

/** What is said of a request over one of the two. */
export const headRule = `The headers of a request are at most ${maxHeaderBytes} bytes, and at most ${maxHeadBytes} bytes together with its address.`;

/** How deep JSON may be nested, in a body or in variables, and how deep the brackets of a document, literals apart. */
export const maxNesting = 32;

/** A document's text with more tokens than this is refused unparsed. */
export const maxTokens = 5_000;

/** Parsed documents are cached up to this length of their texts together, and so are those that clients registered. */
export const maxCachedCharacters = 150_000;
/** The options of the caches of documents. One document may take a tenth of its cache. */
export const documentCacheSize = { maxSize: maxCachedCharacters, maxEntrySize: maxCachedCharacters / 10 };

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

/** For each object that an operation may cost, it may write so many values: leaves are free, but not without end. */
export const valuesPerObject = 10;

/** What a list of leaves counts among the values. */
export const leafListValues = 20;

/** What a connection counts among the values, beside its leaves: finding its page takes as long as writing those. */
export const connectionValues = 20;
/** How many bytes of rows one request may read, and how many its answer may have: it is made in one turn of the event loop. */
export const maxAnswerBytes = 10_000_000;

/** The largest cost of one operation, where the server is not told another. */
export const defaultOperationCost = 10_000;

/** What a query may cost that graphql-js answers: it completes all rows of a list in one turn of the event loop. */
export const maxFallbackCost = 2_500;

/** How many queries graphql-js answers at once where it stands in for the compiled executor, and how many may wait. */
export const maxFallbacks = 8;
export const maxWaitingFallbacks = 100;

/** What one caller may do, and how many unknown tokens one address may send, where the server is not told otherwise. */
export const defaultRates = {
  requestsPerMinute: 6_000,
  costPerHour: 10_000_000,
  unknownTokensPerMinute: 600,
};
