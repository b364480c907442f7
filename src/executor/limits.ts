/**
 * All limits on the size, form, cost and rate of requests; docs/limits.md documents them. Limits of single values are in
 * `src/model/limits.ts`.
 */

/** The largest body of a request, in bytes. */
export const maxBodyBytes = 1_000_000;

/** The message for a body that exceeds it. */
export const bodyTooLargeMessage = `The body is larger than ${maxBodyBytes.toLocaleString('en')} bytes.`;

/** The maximum number of items of any list in arguments or variables. Most lists declare a lower limit. */
export const maxListItems = 1_000;

/**
 * The maximum number of characters of all arguments of one operation. A variable counts each time it is used, so that variables
 * do not allow more than literals would. Each value counts `valueCharacters` in addition to its text.
 */
export const maxInputCharacters = maxBodyBytes;
export const valueCharacters = 8;

/** The maximum number of conditions of all filters of one operation, counted in the same way. */
export const maxFilterConditions = 1_000;

/** For variables longer than this only the first error is reported, because each error quotes values. */
export const longVariables = 10_000;
/** The maximum number of bytes of all header names and values of a request. */
export const maxHeaderBytes = 16 * 1024;

/**
 * The maximum number of bytes of headers and URL, which suffice for all parameters that the OpenAPI document allows at once.
 */
export const maxHeadBytes = 100 * 1024;

/** The message for a request that exceeds `maxHeaderBytes` or `maxHeadBytes`. */
export const headersTooLargeMessage = `The headers of a request are at most ${maxHeaderBytes} bytes, and at most ${maxHeadBytes} bytes together with its URL.`;

/** The deepest nesting of JSON in a body or variables, of a document's selections, and of its literals. */
export const maxNesting = 32;

/**
 * The most values that the JSON of a request may have. The largest batch has some 15,000. Parsing the 330,000 objects that
 * fit into a body would hold up all other requests.
 */
export const maxJsonValues = 50_000;

/** A document with more tokens is refused before it is parsed. */
export const maxTokens = 5_000;

/**
 * A document with more lines is refused as well. Line breaks and comments are not tokens, but hundreds of thousands of them take as
 * long to read as all tokens do.
 */
export const maxLines = 50_000;

/** The maximum number of characters of cached documents, and of documents that clients registered under their hash. */
export const maxCachedCharacters = 150_000;
/** The options of the caches of documents. One document may take a tenth of its cache. */
export const documentCacheSize = { maxSize: maxCachedCharacters, maxEntrySize: maxCachedCharacters / 10 };

/**
 * The maximum number of fields of all cached variants together. Each combination of the values of `@skip` and `@include` makes a variant
 * of an operation; the first one of each operation does not count. The plans of these variants take about as much memory as those of all
 * cached documents.
 */
export const maxVariantFields = 20_000;

/** The longest name in a document, such as an alias. Each object of the answer repeats an alias, and errors repeat unknown names. */
export const maxNameLength = 255;

/** The deepest selection of an operation, fragments included. */
export const maxDepth = 15;

/** The deepest selection below `__schema` and `__type`; somewhat more than the standard introspection query needs. */
export const maxIntrospectionDepth = 20;

/** The maximum number of directives on one field, fragment, variable or operation. */
export const maxDirectives = 5;

/** The maximum number of fields of an operation; the fields of a fragment count for each spread. */
export const maxFields = 5_000;

/** The maximum number of root fields of an operation, and the maximum number of pages: each needs at least one statement. */
export const maxRootFields = 200;
export const maxPages = 200;

/** How often one selection set may have the same response name. Validation compares them pair by pair. */
export const maxRepeats = 50;

/** The cost of a plain list for each parent, whose length is not known before it is read. */
export const plainListCost = 5;

/**
 * The maximum number of values that an operation may write for each object of the limit on its cost. Up to it, leaves cost
 * nothing.
 */
export const valuesPerObject = 10;

/** The maximum number of values of the schema that a query of nothing else may write; the standard query has 20,000. */
export const maxSchemaValues = 50_000;

/** How many values a list of leaves counts as. */
export const leafListValues = 20;

/** How many values a connection counts as, in addition to its leaves: finding its page takes about as long. */
export const connectionValues = 20;

/** The maximum number of bytes of rows that one request may read, and of its answer. */
export const maxAnswerBytes = 10_000_000;

/** How many pages of filtered lists one operation may read, each up to the bound of a page. If it has more, all bounds are lower. */
export const maxFullReads = 80;

/** The default limit of one operation's cost. */
export const defaultOperationCost = 10_000;

/** One event of a subscription may cost as much as an operation divided by this. */
export const eventsPerOperation = 100;

/** The highest cost of a query that graphql-js answers. It is low because graphql-js completes a list in one turn of the event loop. */
export const maxFallbackCost = 2_500;

/** How many queries graphql-js answers at once in place of the compiled executor, and how many may wait. */
export const maxFallbacks = 8;
export const maxWaitingFallbacks = 100;

/** The default rates of one caller, and of unknown tokens from one address. */
export const defaultRates = {
  requestsPerMinute: 6_000,
  costPerHour: 10_000_000,
  unknownTokensPerMinute: 600,
};
