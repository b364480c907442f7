import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** Clients send few different headers, and reading one takes 5 µs. The sizes are in characters. */
const cacheSize = { maxSize: 20_000, maxEntrySize: 1_001 };

/**
 * Returns a function that negotiates with an `Accept` header: those of `offered` that the client accepts, the best first. All
 * are accepted without the header. The client may ask for the charset, which is UTF-8.
 */
export function mediaTypeNegotiator<Type extends string>(
  offered: readonly Type[],
): (accept: string | undefined) => readonly Type[] {
  return cached((header) => {
    const accept = header?.replace(utf8, '');
    return new Negotiator({ headers: { accept } }).mediaTypes(offered) as Type[];
  });
}

/** negotiator requires every parameter of the header in the offered type. */
const utf8 = /;\s*charset="?utf-8"?(?=\s*(?:[;,]|$))/gi;

/**
 * Returns a function that negotiates with an `Accept-Encoding` header, in the same way. Of codings with the same weight, the
 * one that comes first in `offered` is better.
 */
export function codingNegotiator<Coding extends string>(
  offered: readonly Coding[],
): (acceptEncoding: string | undefined) => readonly Coding[] {
  return cached((header = '') => {
    const negotiator = new Negotiator({ headers: { 'accept-encoding': withValidWeights(header) } });
    return negotiator.encodings(offered, { preferred: offered }) as Coding[];
  });
}

/** negotiator reads a weight such as 2 as better than 1. A coding whose weight is not valid is not used. */
function withValidWeights(header: string): string {
  return header.replace(/;\s*q\s*=([^,;]*)/gi, (parameter, weight: string) =>
    validWeight.test(weight.trim()) ? parameter : ';q=0',
  );
}

/** A `qvalue` of RFC 9110, 12.4.2. */
const validWeight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function cached<Result extends object>(negotiate: (header: string | undefined) => Result) {
  const results = new LRUCache<string, Result>(cacheSize);
  return (header: string | undefined): Result => {
    // An empty header is one that was not sent.
    const key = header ?? '';
    let result = results.get(key);
    if (!result) {
      result = negotiate(header || undefined);
      results.set(key, result, { size: key.length + 1 });
    }
    return result;
  };
}
