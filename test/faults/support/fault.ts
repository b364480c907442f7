import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFigure } from './document.ts';
import { install, keepToOneCore, type Tool } from './tools.ts';

export interface FaultOptions {
  /** The name in the table. */
  readonly fault: string;
  readonly pass: string;
  /** How much of it: rounds, or seconds. */
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
  /** Losses, exits, coarse deadlines: must hold in either form. */
  must(holds: boolean, words: string): void;
  /** A figure in milliseconds or a ratio: must hold in the long form, on a machine that does nothing else. */
  figure(holds: boolean, words: string): void;
  /** Cleanups that always run at the end, in reverse order. */
  defer(undo: () => unknown): void;
}

/** What automake's tests say of a test that could not be made. */
export const skippedCode = 77;

/** Runs the fault that this file is: prints its figure, writes it down in the long form, and sets the exit code. */
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
  keepToOneCore();
  const began = performance.now();
  const undos: (() => unknown)[] = [];
  const failures: string[] = [];
  const note = (holds: boolean, words: string) => void (holds || failures.push(words));
  const folder = mkdtempSync(join(tmpdir(), `workgraph-fault-${name}-`));
  // The user that PostgreSQL runs as comes through.
  chmodSync(folder, 0o711);
  const trial: Trial = {
    amount: values.amount ? Number(values.amount) : isShort ? amount.short : amount.long,
    isShort,
    folder,
    must: note,
    figure: (holds, words) => note(holds || isShort, words),
    defer: (undo) => void undos.unshift(undo),
  };
  const tidyUp = async () => {
    for (const undo of undos.splice(0))
      await Promise.resolve(undo()).catch((error: unknown) => failures.push(String(error)));
    rmSync(folder, { recursive: true, force: true });
  };
  // Broken off, it leaves no cluster, no server and no mount behind either.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void tidyUp().finally(() => process.exit(1)));
  let measured = '';
  try {
    measured = `${trial.amount} ${amount.unit}: ${await run(trial)}`;
  } catch (error) {
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  await tidyUp();
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${name}: ${measured || 'broke off'} (${seconds} s)\n`);
  for (const failure of failures) process.stdout.write(`${name}: FAILED: ${failure}\n`);
  if (!isShort && measured !== '') {
    const flags = values.amount ? ` -- --amount ${values.amount}` : '';
    const verdict = failures.length === 0 ? measured : `${measured}. **Missed**: ${failures.join('; ')}`;
    writeFigure({ name, fault, pass, measured: verdict, command: `npm run faults ${name}${flags}` });
  }
  // What a broken run has left under way must not keep the process.
  process.exit(failures.length === 0 ? 0 : 1);
}

/** The quantile of numbers; NaN without any. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function ms(value: number): string {
  return value >= 100 || Number.isNaN(value) ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`;
}
