import { encodeId, idPrefixes, parseId } from '../../src/resolvers/ids.ts';
import { exampleDay } from '../support/templates.ts';

/**
 * Replaces the parts of answers that differ in each run by constants: new ids and times, and signatures.
 * Equal answers of different runs become identical, and an object has the same id in all answers.
 */
export class Normalizer {
  readonly #sinceMs = Date.now();
  readonly #ids = new Map<string, string>();

  /** Returns the normalized value. */
  of<T>(value: T): T {
    return JSON.parse(
      JSON.stringify(value, (key, each: unknown) =>
        typeof each === 'string' ? this.#text(each) : (momentaryNumbers[key] ?? each),
      ),
    ) as T;
  }

  #text(text: string): string {
    return text
      .replace(uuidForm, '0b5f8a9e-4f0d-4c58-9e0c-6f1f6f7d2a51')
      .replace(/^whsec_.*$/, `whsec_${'A'.repeat(43)}=`)
      .replaceAll(/\bc1-(\d+)-[\da-z]+\b/g, 'c1-$1-20s4w5hj3')
      .replaceAll(idForm, (id) => this.#id(id))
      .replaceAll(timeForm, (time) => (Date.parse(time) < this.#sinceMs ? time : exampleDay.toISOString()))
      .replaceAll(/(?<=[?&]expires=)\d+/g, String(exampleDay.getTime() / 1000 + 300))
      .replaceAll(/(?<=[?&]signature=)[\w-]+/g, 'SIGNATURE');
  }

  #id(id: string): string {
    const parsed = parseId(id);
    if (!parsed || timeOf(parsed.uuid) < this.#sinceMs) return id;
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const number = (this.#ids.size + 1).toString(16).padStart(12, '0');
    const time = exampleDay.getTime().toString(16).padStart(12, '0');
    const normalized = encodeId(parsed.prefix, `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number}`);
    this.#ids.set(id, normalized);
    return normalized;
  }
}

/** Numbers that differ in each run: durations, and the number of changes that have no position yet. */
const momentaryNumbers: Readonly<Record<string, number>> = { ms: 12, backlog: 0 };

const idForm = new RegExp(`\\b(?:${idPrefixes.join('|')})_[0-7][0-9a-hjkmnp-tv-z]{25}\\b`, 'g');
/** The format of request ids. Ids of objects have another format. */
const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const timeForm = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** The time of a UUIDv7. */
function timeOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}
