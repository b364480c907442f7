import { connect, type Socket } from 'node:net';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body in JSON. */
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** The body as received, without the framing of chunks. */
  readonly body: Buffer;
  /** The size of the answer, including headers and framing. */
  readonly wireBytes: number;
}

/**
 * A keep-alive connection with one request at a time. It uses the socket directly, because the load generator shares
 * two cores with the servers, and a general HTTP client would use more CPU time than some of them.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #chunks: Buffer[] = [];
  #received = 0;
  #headEnd = -1;
  #status = 0;
  /** The length of the whole answer; -1 while it is unknown (chunked, or the head has not arrived). */
  #expected = -1;
  #isChunked = false;
  #settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('The server closed the connection.')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, `127.0.0.1:${port}`));
      });
    });
  }

  send(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(this.#render(request));
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #render({ method, path, headers = {}, body }: Request): string {
    let text = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAccept: application/json\r\n`;
    for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
    if (body === undefined) return `${text}\r\n`;
    return `${text}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#headEnd < 0) this.#readHead();
    if (this.#headEnd < 0) return;
    if (this.#isChunked) {
      // Only the last chunk has the length 0, and nothing can follow the answer, since the next request is not sent
      // yet.
      if (endsWithLastChunk(chunk) || endsWithLastChunk(this.#whole()))
        this.#finish(dechunk(this.#whole().subarray(this.#headEnd)));
    } else if (this.#received >= this.#expected) {
      this.#finish(this.#whole().subarray(this.#headEnd, this.#expected));
    }
  }

  #readHead(): void {
    const whole = this.#whole();
    const end = whole.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = whole.toString('latin1', 0, end);
    this.#headEnd = end + 4;
    this.#status = Number(head.slice(9, 12));
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? '0';
    this.#expected = this.#isChunked ? -1 : this.#headEnd + Number(length);
  }

  #whole(): Buffer {
    const [first] = this.#chunks;
    if (first && this.#chunks.length === 1) return first;
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }

  #finish(body: Buffer): void {
    const { resolve } = this.#settle ?? {};
    const answer = { status: this.#status, body, wireBytes: this.#received };
    this.#settle = undefined;
    this.#chunks = [];
    this.#received = 0;
    this.#headEnd = -1;
    resolve?.(answer);
  }

  #fail(error: Error): void {
    this.#settle?.reject(error);
    this.#settle = undefined;
  }
}

function endsWithLastChunk(bytes: Buffer): boolean {
  return bytes.length >= 5 && bytes.toString('latin1', bytes.length - 5) === '0\r\n\r\n';
}

function dechunk(framed: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = framed.indexOf('\r\n', at);
    const size = Number.parseInt(framed.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(framed.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
