import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach } from '@jest/globals';
import { isDeliberate } from './deliberate-fallbacks.ts';
import { type FallbackSeen, isKnownFallback } from './known-fallbacks.ts';

const { WORKGRAPH_TEST_FALLBACKS: folder, JEST_WORKER_ID: worker } = process.env;
const reported = folder && worker ? join(folder, worker) : undefined;
const seen: FallbackSeen[] = [];
const note = (fallback: unknown) => void seen.push(fallback as FallbackSeen);

/** Lists the unknown fallbacks since the last call, without duplicates. */
export function unknownFallbacks(): string[] {
  const unknown = [...seen.splice(0), ...reportedByProcesses()].filter(
    (fallback) => !isKnownFallback(fallback) && !isDeliberate(fallback),
  );
  return [
    ...new Set(unknown.map(({ kind, message, operation }) => `${kind}: ${message} (${operation || '-'})`)),
  ];
}

function check(): void {
  const unknown = unknownFallbacks();
  if (unknown.length > 0)
    throw new Error(
      `graphql-js answered for reasons that known-fallbacks.ts does not list:\n${unknown.join('\n')}`,
    );
}

function reportedByProcesses(): FallbackSeen[] {
  if (!reported || !existsSync(reported)) return [];
  const lines = readFileSync(reported, 'utf8').trimEnd().split('\n');
  rmSync(reported);
  return lines.map((line) => JSON.parse(line) as FallbackSeen);
}

/**
 * Called before each test file. A fallback hides that the compiled executor failed, because graphql-js gives the right
 * answer in its place. So a test fails when any server that it uses, in this process or in one that the test started,
 * falls back for a reason that known-fallbacks.ts does not list.
 */
export function watchFallbacks(): void {
  subscribe('workgraph:fallback', note);
  afterEach(check);
  afterAll(() => {
    unsubscribe('workgraph:fallback', note);
    check();
  });
}
