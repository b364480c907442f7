import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFigure } from './document.ts';
import { install, pinToLastCore, type Tool } from './tools.ts';

export interface FaultOptions {
  /** Its name in the table of docs/faults.md. */
  readonly fault: string;
  readonly pass: string;
  /** The length of a run, such as rounds or seconds. */
  readonly amount: { readonly unit: string; readonly short: number; readonly long: number };
  readonly needs?: readonly Tool[];
  /** Runs the fault and returns the measured figure. */
  readonly run: (trial: Trial) => Promise<string>;
}

/** One run of a fault. */
export interface Trial {
  readonly amount: number;
  readonly isShort: boolean;
  /** A folder that is removed at the end of the run. */
  readonly folder: string;
  /** Checks what must hold in the short and the long form: no losses, no exits, generous deadlines. */
  must(holds: boolean, words: string): void;
  /** Checks a time or a ratio, which must hold in the long form only, on an otherwise idle machine. */
  figure(holds: boolean, words: string): void;
  /** Cleanups that always run at the end, in reverse order. */
  defer(undo: () => unknown): void;
}

/** The exit code of a skipped test, as in automake. */
export const skippedCode = 77;

/** Runs a fault: prints its figure, writes it to docs/faults.md in the long form, and ends the process with an exit code. */
export async function runFault(
  file: string,
  { fault, pass, amount, needs = [], run }: FaultOptions,
): Promise<void> {
  const name = basename(file, '.ts');
  const { values } = parseArgs({ options: { short: { type: 'boolean' }, amount: { type: 'string' } } });
  const isShort = values.short ?? false;
  const missing = install(needs);
  if (missing.length > 0) {
    process.stdout.write(`${name}: skipped, there is no ${missing.join(' and no ')} here\n`);
    process.exit(skippedCode);
  }
  install(['taskset']);
  pinToLastCore();
  const began = performance.now();
  const undos: (() => unknown)[] = [];
  const failures: string[] = [];
  const note = (holds: boolean, words: string) => void (holds || failures.push(words));
  const folder = mkdtempSync(join(tmpdir(), `workgraph-fault-${name}-`));
  // The user that PostgreSQL runs as must be able to enter it.
  chmodSync(folder, 0o711);
  const trial: Trial = {
    amount: values.amount ? Number(values.amount) : isShort ? amount.short : amount.long,
    isShort,
    folder,
    must: note,
    figure: (holds, words) => note(holds || isShort, words),
    defer: (undo) => void undos.unshift(undo),
  };
  const cleanUp = async () => {
    for (const undo of undos.splice(0))
      await Promise.resolve(undo()).catch((error: unknown) => failures.push(String(error)));
    rmSync(folder, { recursive: true, force: true });
  };
  // An interrupted run leaves no cluster, server or mount behind either.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
  let measured = '';
  try {
    measured = `${trial.amount} ${amount.unit}: ${await run(trial)}`;
  } catch (error) {
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  await cleanUp();
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${name}: ${measured || 'aborted'} (${seconds} s)\n`);
  for (const failure of failures) process.stdout.write(`${name}: FAILED: ${failure}\n`);
  if (!isShort && measured !== '') {
    const flags = values.amount ? ` -- --amount ${values.amount}` : '';
    const verdict = failures.length === 0 ? measured : `${measured}. **Missed**: ${failures.join('; ')}`;
    writeFigure({ name, fault, pass, measured: verdict, command: `npm run faults ${name}${flags}` });
  }
  // Pending work of a failed run must not keep the process alive.
  process.exit(failures.length === 0 ? 0 : 1);
}

/** The quantile of the numbers, or NaN if there are none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function ms(value: number): string {
  return value >= 100 || Number.isNaN(value) ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`;
}
