const quote = 0x22;
const backslash = 0x5c;

/** Shorter texts are scanned byte by byte, because setting up the faster scan takes longer. */
const shortBytes = 256;
/** A 32-bit number whose four bytes are all equal to `byte`. */
const four = (byte: number) => (byte * 0x01010101) | 0;
const ones = four(0x01);
const spaces = four(0x20);
const quotes = four(quote);
const backslashes = four(backslash);
const topBits = four(0x80);

/** The position of the first byte that has to be escaped in JSON. */
export function plainEnd(source: Uint8Array, start: number, end: number): number {
  const from = end - start > shortBytes ? plainWordsEnd(source, start, end) : start;
  for (let index = from; index < end; index += 1) if (isEscaped(source[index] as number)) return index;
  return end;
}

function isEscaped(code: number): boolean {
  return code < 0x20 || code === quote || code === backslash;
}

/**
 * A position up to which no byte has to be escaped. The first byte to escape, or the end, is fewer than four bytes further. Tests
 * four bytes at once ("Determine if a word has a zero byte" in Bit Twiddling Hacks), which takes half the time of a loop over bytes.
 */
function plainWordsEnd(source: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; (source.byteOffset + at) % 4 !== 0; at += 1) if (isEscaped(source[at] as number)) return at;
  const words = new Int32Array(source.buffer, source.byteOffset + at, (end - at) >> 2);
  let count = 0;
  for (; count < words.length; count += 1) {
    const word = words[count] as number;
    const isControl = ((word - spaces) | 0) & ~word;
    const quoted = word ^ quotes;
    const isQuote = ((quoted - ones) | 0) & ~quoted;
    const slashed = word ^ backslashes;
    const isBackslash = ((slashed - ones) | 0) & ~slashed;
    if ((isControl | isQuote | isBackslash) & topBits) break;
  }
  return at + count * 4;
}
