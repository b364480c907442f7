import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** How much a picture, and the process that decodes it, may take. */
export interface PictureLimits {
  readonly maxPixels: number;
  /** Width × height × channels × bytes of each, which is what a whole picture takes when it is decoded. */
  readonly maxDecodedBytes: number;
  /** Of the process in physical memory: Node itself, the file, the decoded picture, and what is made of it. */
  readonly maxProcessBytes: number;
  /** The longest side of the preview, in pixels. */
  readonly side: number;
}

/** What the child is asked. */
export interface PictureTask extends PictureLimits {
  readonly image: Uint8Array;
}

/** What the child answers; nothing when the file is no picture that can be shown. */
export interface PictureAnswer {
  readonly picture: Uint8Array | undefined;
}

/** Longer than the child gives a picture, so that this ends only a child that hangs. */
const answerWithinMs = 15_000;

/** How long a child without work is kept: starting one takes half a second. */
const idleMs = 30_000;

const script = fileURLToPath(import.meta.resolve('./preview-child.ts'));

/**
 * Draws previews in a child process, one at a time. A child that dies, hangs or takes too much memory costs the preview
 * that it was drawing; the next one gets a new child. A child without work does not keep this process alive.
 */
export class PictureProcess {
  readonly #limits: PictureLimits;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: PictureLimits) {
    this.#limits = limits;
  }

  /** The process that draws, if there is one now. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The preview of a picture in WebP; undefined when there is none. The one before must have been answered. */
  async draw(image: Uint8Array): Promise<Buffer | undefined> {
    try {
      return await this.#draw(image);
    } catch {
      // The system has no process, memory or file descriptor to spare, which must not fail what the preview is of.
      return undefined;
    }
  }

  /** Lets go of the child, which then ends. */
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

  /** Without the environment of the server, which holds secrets. */
  #start(): ChildProcess {
    const flags = ['--max-old-space-size=64', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...flags, script], {
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const forget = () => {
      if (this.#child === child) this.#child = undefined;
    };
    child.on('exit', forget).on('error', forget).on('disconnect', forget);
    return child;
  }
}

/** Undefined also when the child ends before it answers. */
function answerOf(child: ChildProcess, task: PictureTask): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const done = (picture?: Uint8Array) => {
      clearTimeout(late);
      child.off('message', answered).off('exit', died).off('error', died);
      resolve(picture);
    };
    const answered = ({ picture }: PictureAnswer) => done(picture);
    const died = () => done();
    const late = setTimeout(() => child.kill('SIGKILL'), answerWithinMs);
    child.on('message', answered).on('exit', died).on('error', died);
    child.send(task, (error) => {
      if (error) child.kill('SIGKILL');
    });
  });
}
