/** Texts that must not be where they were not sent, in any form that a program might give them. */
export class Canaries {
  readonly #forms = new Map<string, string>();

  constructor(secrets: Readonly<Record<string, string>>) {
    for (const [name, secret] of Object.entries(secrets)) this.add(name, secret);
  }

  add(name: string, secret: string): void {
    for (const form of formsOf(secret)) this.#forms.set(form, name);
  }

  /** The names of those that the text holds, with what stands around them. */
  in(text: string): string[] {
    const folded = text.toLowerCase();
    return [...this.#forms].flatMap(([form, name]) => {
      const at = folded.indexOf(form.toLowerCase());
      return at < 0 ? [] : [`${name}: …${text.slice(Math.max(at - 60, 0), at + form.length + 20)}…`];
    });
  }
}

/** As it is, in hexadecimal, encoded for an address, in JSON, and in base64 wherever it may begin in a longer text. */
function formsOf(secret: string): Set<string> {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((before) => {
    // Digits that hold bits of what stands before or behind are left out.
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
