import { type ChildProcess, spawn } from 'node:child_process';
import { extname, join } from 'node:path';

/** The limits for a picture and for the process that decodes it. */
export interface PictureLimits {
  readonly maxPixels: number;
  /** The size of the decoded picture: width × height × channels × bytes per channel. */
  readonly maxDecodedBytes: number;
  /** The physical memory of the process: Node itself, the file, the decoded picture and the preview. */
  readonly maxProcessBytes: number;
  /** The longest side of the preview, in pixels. */
  readonly side: number;
  /** How long one picture may take. */
  readonly seconds: number;
}

/** The message to the child. */
export interface PictureTask extends PictureLimits {
  readonly image: Uint8Array;
}

/** The answer of the child; without a picture if the file cannot be decoded. */
export interface PictureAnswer {
  readonly picture: Uint8Array | undefined;
}

/** How long the child may still answer after the time limit of a picture, so that only a child that hangs is killed. */
const graceMs = 3_000;

/** How long an idle child is kept running, since starting one takes half a second. */
const idleMs = 30_000;

// It ends in .js in the built package.
const script = join(import.meta.dirname, `preview-child${extname(import.meta.filename)}`);

/**
 * Draws previews in a child process, one at a time. If a child dies, hangs or uses too much memory, only the current
 * preview is lost; the next one gets a new child. An idle child does not keep this process alive.
 */
export class PictureProcess {
  readonly #limits: PictureLimits;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: PictureLimits) {
    this.#limits = limits;
  }

  /** The id of the child process, if there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * The preview of a picture in WebP; undefined if there is none. Must not be called before the previous call has
   * ended.
   */
  async draw(image: Uint8Array): Promise<Buffer | undefined> {
    try {
      return await this.#draw(image);
    } catch {
      // The system has no process, memory or file descriptor left. That must not make the upload fail.
      return undefined;
    }
  }

  /** Disconnects the child, which then exits. */
  end(): void {
    clearTimeout(this.#idle);
    if (this.#child?.connected) this.#child.disconnect();
    this.#child = undefined;
  }

  async #draw(image: Uint8Array): Promise<Buffer | undefined> {
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    child.ref();
    child.channel?.ref();
    const picture = await answerOf(child, { image, ...this.#limits });
    child.unref();
    child.channel?.unref();
    this.#idle = setTimeout(() => this.end(), idleMs).unref();
    return picture && Buffer.from(picture);
  }

  /** Starts the child without the environment of the server, which contains secrets. */
  #start(): ChildProcess {
    const flags = ['--max-old-space-size=64', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...flags, script], {
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const clearChild = () => {
      if (this.#child === child) this.#child = undefined;
    };
    child.on('exit', clearChild).on('error', clearChild).on('disconnect', clearChild);
    return child;
  }
}

/** Sends a picture to the child and waits for the answer; undefined also if the child exits before it answers. */
function answerOf(child: ChildProcess, task: PictureTask): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const done = (picture?: Uint8Array) => {
      clearTimeout(timeout);
      child.off('message', answered).off('exit', died).off('error', died);
      resolve(picture);
    };
    const answered = ({ picture }: PictureAnswer) => done(picture);
    const died = () => done();
    const timeout = setTimeout(() => child.kill('SIGKILL'), task.seconds * 1_000 + graceMs);
    child.on('message', answered).on('exit', died).on('error', died);
    child.send(task, (error) => {
      if (error) child.kill('SIGKILL');
    });
  });
}
