import { join } from 'node:path';
import { derivedIds } from '../../portability/row-ids.ts';
import { parseId } from '../../resolvers/ids.ts';
import { type Line, readLines } from '../import/lines.ts';
import { type NdjsonHeader, readHeader } from '../import/ndjson.ts';
import { openSourceFile } from '../import/source-file.ts';

/** The directory of the demo that comes with the service; docs/importing.md describes such a directory. */
export const bundledDemo = join(import.meta.dirname, '../../../demo');

/** The file of the issues in a demo directory. */
export function issuesFile(from: string): string {
  return join(from, 'issues.ndjson');
}

/** Reads the issues of a demo directory with the given function; throws a `CommandError` if they cannot be read. */
export async function withIssues<Result>(
  from: string,
  read: (lines: AsyncGenerator<Line>) => Promise<Result>,
): Promise<Result> {
  const file = await openSourceFile(issuesFile(from));
  try {
    return await read(readLines(file.text));
  } finally {
    file.close();
  }
}

/** The header of the issues in a demo directory. */
export function headerOf(from: string): Promise<NdjsonHeader> {
  return withIssues(from, readHeader);
}

/** The id of the demo's workspace: the id in the header if it is valid, otherwise an id derived from that text. */
export function workspaceIdOf({ workspace: { id } }: NdjsonHeader): string {
  const parsed = parseId(id);
  if (parsed?.prefix === 'workspace') return parsed.uuid;
  return derivedIds('')({ kind: 'workspace', key: id, createdUtc: new Date(0) });
}
