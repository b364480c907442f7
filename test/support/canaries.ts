/** Secrets that must not leak, in all encodings in which a program might write them. */
export class Canaries {
  readonly #encodings = new Map<string, string>();

  constructor(secrets: Readonly<Record<string, string>>) {
    for (const [name, secret] of Object.entries(secrets)) this.add(name, secret);
  }

  add(name: string, secret: string): void {
    for (const encoding of encodingsOf(secret)) this.#encodings.set(encoding, name);
  }

  /** Returns the names of the secrets that the text contains, each with its surrounding text. */
  in(text: string): string[] {
    const folded = text.toLowerCase();
    return [...this.#encodings].flatMap(([encoding, name]) => {
      const at = folded.indexOf(encoding.toLowerCase());
      return at < 0 ? [] : [`${name}: …${text.slice(Math.max(at - 60, 0), at + encoding.length + 20)}…`];
    });
  }
}

/** The secret unchanged, in hexadecimal, URL-encoded, in JSON, and in base64 at each of the three possible offsets. */
function encodingsOf(secret: string): Set<string> {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((before) => {
    // Digits that also encode bits of neighboring bytes are cut off.
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(before === 0 ? 0 : before + 1, -2);
  });
  return new Set([
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    ...shifted,
    ...shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
}
