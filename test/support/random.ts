import { createHash } from 'node:crypto';

/** A pseudo-random generator (sfc32) whose seed determines its output. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest();
    this.#a = digest.readInt32LE(0);
    this.#b = digest.readInt32LE(4);
    this.#c = digest.readInt32LE(8);
    this.#counter = digest.readInt32LE(12);
  }

  /** 32 random bits as an unsigned integer. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer from the range, including both ends. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** An element of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    const picked = this.find(list);
    if (picked === undefined) throw new Error('Nothing can be picked from an empty list.');
    return picked;
  }

  /** An element of the list, or undefined if it is empty. */
  find<T>(list: readonly T[]): T | undefined {
    return list[this.integer(0, list.length - 1)];
  }

  /** One of the keys, with probabilities in proportion to the weights. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries(weights) as [Key, number][];
    let rest = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    throw new Error('No weight is positive.');
  }

  shuffled<T>(list: readonly T[]): T[] {
    const rest = [...list];
    const order: T[] = [];
    while (rest.length > 0) order.push(...rest.splice(this.integer(0, rest.length - 1), 1));
    return order;
  }

  /** Up to `count` different elements of the list. */
  sample<T>(list: readonly T[], count: number): T[] {
    return this.shuffled(list).slice(0, count);
  }

  /** A UUIDv7 with the given time. */
  uuid(atMs: number): string {
    const time = atMs.toString(16).padStart(12, '0');
    const version = (0x7000 | (this.bits() >>> 20)).toString(16);
    const variant = (0x8000 | (this.bits() >>> 18)).toString(16);
    const rest = hex(this.bits()) + hex(this.bits()).slice(4);
    return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${rest}`;
  }
}

function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}
