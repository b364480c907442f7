import { type GraphQLError, Source, type SourceLocation } from 'graphql';

/**
 * The source of the nodes of a document. graphql-js searches the body of a source for line breaks each time it creates an error,
 * so 100 errors in a text of 450,000 lines would take seconds. This body is empty, which makes those searches free, and `addLocations`
 * finds the lines in a table that is made once, for the first error.
 */
export class DocumentSource extends Source {
  readonly #text: string;
  #lineStarts: Uint32Array | undefined;

  constructor(text: string) {
    super('');
    this.#text = text;
  }

  /** The line and column of a position in the text, both counted from 1. */
  locationOf(position: number): SourceLocation {
    this.#lineStarts ??= lineStartsOf(this.#text);
    let line = 0;
    let end = this.#lineStarts.length;
    // The last line that starts at the position or before it.
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= position) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: position - (this.#lineStarts[line] ?? 0) + 1 };
  }
}

/** Adds lines and columns to an error about a document, which graphql-js cannot find in an empty body. Returns the same error. */
export function addLocations(error: GraphQLError): GraphQLError {
  const { source, positions } = error;
  if (source instanceof DocumentSource && positions)
    Object.assign(error, { locations: positions.map((position) => source.locationOf(position)) });
  return error;
}

/** The positions at which lines start. As in graphql-js, a carriage return and a line feed are one line break together. */
export function lineStartsOf(text: string): Uint32Array {
  const starts = [0];
  for (let position = 0; position < text.length; position += 1) {
    const character = text[position];
    if (character === '\n' || (character === '\r' && text[position + 1] !== '\n')) starts.push(position + 1);
  }
  return Uint32Array.from(starts);
}
