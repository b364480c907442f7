import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from './once.ts';

/** A query from the documentation that can be run unchanged. */
export interface WorkedQuery {
  /** `dashboard` */
  readonly name: string;
  /** The first line of the file, which says what the query is for. */
  readonly purpose: string;
  readonly document: string;
}

const folder = join(import.meta.dirname, '../../../docs/queries');

/** The queries that docs/graph.md explains, by name. */
export const workedQueries: () => Promise<readonly WorkedQuery[]> = once(async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.graphql')).toSorted();
  return Promise.all(files.map(readWorkedQuery));
});

/** The query that GraphiQL opens with, because it shows the most features at once. */
export function dashboardQuery(): Promise<WorkedQuery> {
  return readWorkedQuery('dashboard.graphql');
}

/** The URL of GraphiQL with a query filled in. */
export function graphiqlPath(document: string): string {
  return `/graphql?query=${encodeURIComponent(document)}`;
}

async function readWorkedQuery(file: string): Promise<WorkedQuery> {
  const document = await readFile(join(folder, file), 'utf8');
  const purpose = /^# (.*)/.exec(document)?.[1] ?? '';
  return { name: file.replace(/\.graphql$/, ''), purpose, document };
}
