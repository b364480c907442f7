import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../db/engine/engine.ts';
import { inTransaction, type Trx } from '../../db/engine/transaction.ts';
import { selectWorkspaces } from '../../db/workspaces.ts';
import { analyzeTables } from '../../db/statistics.ts';
import { principalKind } from '../../model/codes.ts';
import { createFromDirectory } from '../../portability/directory/directory.ts';
import { ImportFiles } from '../../portability/import/import-files.ts';
import { databaseLedger, memoryLedger } from '../../portability/import/import-ledger.ts';
import { importIssues } from '../../portability/import/import-run.ts';
import { derivedIds, type NewId } from '../../portability/row-ids.ts';
import { timeShift } from '../../portability/time-shift.ts';
import { type Actor, recordAuditEntries } from '../../resolvers/access/audit.ts';
import { raise } from '../../resolvers/errors.ts';
import { encodeId } from '../../resolvers/ids.ts';
import type { FileStore } from '../../storage/storage.ts';
import { pluralize } from '../pluralize.ts';
import { headerOf, issuesFile, bundledDemo, withIssues, workspaceIdOf } from './demo-files.ts';
import { readDirectory } from '../directory.ts';
import { CommandError } from '../failures.ts';
import type { Line } from '../import/lines.ts';
import { ndjsonContent, type NdjsonHeader, readHeader } from '../import/ndjson.ts';
import { recordLines } from '../import/records.ts';
import { fileSize } from '../import/source-file.ts';

export interface SeedOptions {
  readonly store: FileStore;
  readonly actor: Actor;
  /** Receives lines about what was created. */
  readonly onMessage?: (text: string) => void;
  /** The directory of the demo; by default the one that is part of the service. */
  readonly from?: string | undefined;
  /** The time to which the demo's reference time is shifted. */
  readonly now?: Date;
}

/**
 * Creates the workspace of a demo directory in one transaction, and returns its id. The same files and time always give the same rows.
 * Throws `conflict` if the workspace already exists, and a `CommandError` if the importer refuses or warns of anything.
 */
export async function seedDemo(
  database: Database,
  { store, actor, onMessage = () => undefined, from = bundledDemo, now = new Date() }: SeedOptions,
): Promise<string> {
  const directoryFile = join(from, 'directory.yaml');
  await fileSize(directoryFile);
  const header = await headerOf(from);
  const workspaceId = workspaceIdOf(header);
  const workspaces = await selectWorkspaces(database.unscoped);
  if (workspaces.some(({ id }) => id === workspaceId))
    raise('conflict', `The database already has the workspace ${header.workspace.name}.`);
  const { referenceUtc } = header;
  const shiftTimes =
    referenceUtc === undefined ? (text: string) => text : timeShift(new Date(referenceUtc), now);
  const directory = readDirectory(shiftTimes(await readFile(directoryFile, 'utf8')));
  const workspace = directory.workspace ?? { name: header.workspace.name };
  const files = new ImportFiles(store, from);
  const demo = { from, header, workspaceId, shiftTimes, files };
  try {
    const issues = await inTransaction(database.of(workspaceId), async (trx) => {
      await files.removeAfter(0);
      const newId = derivedIds(workspaceId);
      await createFromDirectory(trx, { ...directory, workspace }, newId);
      const subject = { kind: 'workspace', id: encodeId('workspace', workspaceId), name: workspace.name };
      await recordAuditEntries(trx, actor, [{ act: 'workspace.created', subject }]);
      return withIssues(from, (lines) => loadIssues(trx, demo, lines, { actor, newId }));
    });
    const { members = [], agent, agents = [], teams = [], projects = [] } = directory;
    const people = members.length + agents.length + Number(agent !== undefined);
    onMessage(
      `${workspace.name}: ${pluralize(teams.length, 'team')}, ${pluralize(people, 'member')}, ${pluralize(projects.length, 'project')}, ${pluralize(issues, 'issue')}.\n`,
    );
  } catch (error) {
    await files.removeAfter(0);
    throw error;
  }
  // The embedded engine has no autovacuum, so nothing else updates the statistics.
  await analyzeTables(database.unscoped);
  return workspaceId;
}

interface Demo {
  readonly from: string;
  readonly header: NdjsonHeader;
  readonly workspaceId: string;
  /** Shifts all times in a text. */
  readonly shiftTimes: (text: string) => string;
  readonly files: ImportFiles;
}

/** Imports the issues inside the transaction and returns their number. Any refusal or warning is an error. */
async function loadIssues(
  trx: Trx,
  { from, header, workspaceId, shiftTimes, files }: Demo,
  unshifted: AsyncGenerator<Line>,
  { actor, newId }: { actor: Actor; newId: NewId },
): Promise<number> {
  const problems: string[] = [];
  const source = `demo:${header.workspace.id}`;
  const lines = shiftedLines(unshifted, shiftTimes);
  await readHeader(lines);
  const { created } = await importIssues({
    db: trx,
    unscoped: undefined,
    actor,
    target: {
      workspaceId,
      source,
      teamCode: undefined,
      anonymous: { name: header.workspace.name, principalKind: principalKind.service },
      // The activity in the demo's files is complete, as if the issues had been created here, so no record of an import
      // is needed. In other files it may be incomplete, so they are recorded like any import.
      ledger: from === bundledDemo ? memoryLedger() : databaseLedger(source),
      newId,
      files,
    },
    lines: recordLines(lines, ndjsonContent),
    signal: new AbortController().signal,
    reporter: {
      refused: (line, reason) => problems.push(`line ${line} refused: ${reason}`),
      warning: (line, text) => problems.push(`line ${line}: ${text}`),
      progress: () => undefined,
    },
  });
  if (problems.length === 0) return created;
  const omitted = problems.length > 20 ? [`… and ${problems.length - 20} more`] : [];
  throw new CommandError([`${issuesFile(from)}:`, ...problems.slice(0, 20), ...omitted].join('\n'));
}

async function* shiftedLines(
  lines: AsyncIterable<Line>,
  shiftTimes: Demo['shiftTimes'],
): AsyncGenerator<Line> {
  for await (const line of lines)
    yield line.text === undefined ? line : { ...line, text: shiftTimes(line.text) };
}
