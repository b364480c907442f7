import type { ServerResponse } from 'node:http';

type Header = readonly [name: string, value: string];

/**
 * Collects status and headers of an answer. Node takes all headers at once in a third of the time of setting each. Names are
 * case-insensitive, and a header that is set again replaces the earlier value.
 */
export class AnswerHead {
  status: number;
  readonly #headers = new Map<string, Header>();

  constructor(status: number) {
    this.status = status;
  }

  get(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase())?.[1];
  }

  set(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), [name, value]);
  }

  remove(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  /** Sets several headers. A `Vary` is added to an earlier one. */
  add(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) {
      const value = headers[name] as string;
      if (name.toLowerCase() === 'vary') this.vary(value);
      else this.set(name, value);
    }
  }

  /** Adds the name of a request header to `Vary`. */
  vary(name: string): void {
    this.set('Vary', withName(this.get('Vary') ?? '', name));
  }

  write(res: ServerResponse): void {
    const flat: string[] = [];
    for (const [name, value] of this.#headers.values()) flat.push(name, value);
    res.writeHead(this.status, flat);
  }
}

/** The lists that `withName` has made. There are few, because the names come from the code and not from requests. */
const varyLists = new Map<string, string>();

function withName(list: string, name: string): string {
  const key = `${list}\n${name}`;
  const cached = varyLists.get(key);
  if (cached !== undefined) return cached;
  const names = list
    .split(',')
    .map((listed) => listed.trim())
    .filter((listed) => listed !== '');
  const isListed = names.some((listed) => listed === '*' || listed.toLowerCase() === name.toLowerCase());
  const extended = isListed ? list : [...names, name].join(', ');
  varyLists.set(key, extended);
  return extended;
}
