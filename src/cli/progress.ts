import { Writable } from 'node:stream';
import { type Options, type Params, SingleBar } from 'cli-progress';
import type { CommandEnvironment } from './environment.ts';
import { pluralize } from './pluralize.ts';
import { escapeControlCharacters } from './visible.ts';

type Screen = Pick<CommandEnvironment, 'stderr' | 'isTty' | 'columns'>;

/** The options of the progress of a long command. */
export interface ProgressOptions {
  /** How much there is to do; 0 if it is not known. */
  readonly total: number;
  /** The noun of what is counted: `issue`. */
  readonly unit: string;
}

/** How far a command has come. */
interface ProgressState {
  /** The number to show, by default what was done of the total. An import measures its total in bytes and shows issues. */
  readonly count: number;
  /** A text to show after the numbers. */
  readonly detail: string;
}

const maxBarWidth = 30;

/** No remaining time is shown before this: the start is slow, so its rate would predict hours. */
const minEstimateSeconds = 1;

/**
 * Shows in a terminal how far a long command has come, how fast it is and how long it will take. Anywhere else it shows nothing,
 * since the lines would end up in a file.
 */
export class Progress {
  readonly #screen: Screen;
  readonly #options: ProgressOptions;
  readonly #bar: SingleBar;
  readonly #startedMs = performance.now();
  #isShown = false;

  constructor(screen: Screen, options: ProgressOptions) {
    this.#screen = screen;
    this.#options = options;
    this.#bar = new SingleBar({
      stream: terminalOf(screen),
      format: (options, params, payload) => this.#formatLine(options, params, payload as ProgressState),
      barCompleteChar: '#',
      barIncompleteChar: '-',
      barsize: maxBarWidth,
      clearOnComplete: true,
      hideCursor: true,
      // Commands end by themselves after a signal, and say what was done.
      gracefulExit: false,
    });
  }

  /** Shows that this much of the total is done. */
  update(done: number, { count = done, detail = '' }: Partial<ProgressState> = {}): void {
    const state: ProgressState = { count, detail };
    if (this.#isShown) this.#bar.update(done, { ...state });
    else this.#bar.start(this.#options.total, done, { ...state });
    this.#isShown = true;
  }

  /** Prints a line of text above the bar. */
  printLine(text: string): void {
    this.end();
    this.#screen.stderr(`${escapeControlCharacters(text)}\n`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isShown) this.#bar.stop();
    this.#isShown = false;
  }

  #formatLine(options: Options, { progress }: Params, { count, detail }: ProgressState): string {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const isTotalKnown = this.#options.total > 0;
    const remainingSeconds = (seconds / progress) * (1 - progress);
    const details = [
      ...(isTotalKnown ? [`${Math.floor(progress * 100)}%`.padStart(4)] : []),
      pluralize(count, this.#options.unit),
      `${perSecond(count / seconds)}/s`,
      ...(isTotalKnown && progress > 0 && seconds >= minEstimateSeconds
        ? [`${duration(remainingSeconds)} left`]
        : []),
      ...(detail ? [detail] : []),
    ].join('  ');
    const availableColumns = this.#screen.columns - details.length - 4;
    const width = isTotalKnown ? Math.max(0, Math.min(maxBarWidth, availableColumns)) : 0;
    const filled = Math.round(progress * width);
    const bar = `${options.barCompleteChar?.repeat(filled)}${options.barIncompleteChar?.repeat(width - filled)}`;
    return (width > 0 ? `[${bar}] ${details}` : details).slice(0, this.#screen.columns - 1);
  }
}

/** The user's terminal as a stream, which the library needs. */
function terminalOf({ stderr, isTty, columns }: Screen): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _encoding, done) => {
      stderr(String(text));
      done();
    },
  });
  return Object.assign(stream, { isTTY: isTty, columns });
}

function perSecond(rate: number): string {
  return rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1);
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
