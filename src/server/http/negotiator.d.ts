/** The part of negotiator that this server uses. `@types/negotiator` lacks the option `preferred`. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { headers: { accept?: string | undefined; 'accept-encoding'?: string } });
    /** The types in `offered` that the client accepts, the best first. */
    mediaTypes(offered: readonly string[]): string[];
    encodings(offered: readonly string[], options: { preferred: readonly string[] }): string[];
  }
}
