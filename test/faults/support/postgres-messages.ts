/**
 * Finds the statements in a stream of PostgreSQL's protocol. A message is a type, a length and that many bytes; the first message of a
 * client has no type. A client runs a statement by Execute or Query; a server ends one by CommandComplete.
 */
export class PostgresMessages {
  readonly #isStatement: (type: number) => boolean;
  /** The first bytes of a message whose length is not known yet. */
  #head: number[] = [];
  /** The bytes of the current message that have not arrived. */
  #left = 0;
  #type = 0;
  #isStartup: boolean;

  constructor(from: 'frontend' | 'backend') {
    this.#isStartup = from === 'frontend';
    const types = (from === 'frontend' ? ['E', 'Q'] : ['C']).map((type) => type.charCodeAt(0));
    this.#isStatement = (type) => types.includes(type);
  }

  /** The offsets in the piece at which messages of statements end. */
  statementsIn(chunk: Buffer): number[] {
    const ends: number[] = [];
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left === 0 && this.#isStatement(this.#type)) ends.push(at);
        continue;
      }
      this.#head.push(chunk[at++] ?? 0);
      const typeBytes = this.#isStartup ? 0 : 1;
      if (this.#head.length < typeBytes + 4) continue;
      const length = Buffer.from(this.#head).readUInt32BE(typeBytes);
      this.#type = this.#isStartup ? 0 : (this.#head[0] ?? 0);
      this.#isStartup = false;
      this.#head = [];
      this.#left = length - 4;
      if (this.#left === 0 && this.#isStatement(this.#type)) ends.push(at);
    }
    return ends;
  }
}
