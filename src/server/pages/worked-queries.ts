import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from './once.ts';

/** A query of the documentation that answers as it stands. */
export interface WorkedQuery {
  /** `dashboard` */
  readonly name: string;
  /** Its first line: what it is for. */
  readonly purpose: string;
  readonly document: string;
}

const folder = join(import.meta.dirname, '../../../docs/queries');

/** The queries that docs/graph.md explains, by name. */
export const workedQueries: () => Promise<readonly WorkedQuery[]> = once(async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.graphql')).toSorted();
  return Promise.all(files.map(readWorkedQuery));
});

/** The one that shows most at once: GraphiQL opens with it. */
export function dashboardQuery(): Promise<WorkedQuery> {
  return readWorkedQuery('dashboard.graphql');
}

/** Where GraphiQL stands with a query filled in. */
export function graphiqlPath(document: string): string {
  return `/graphql?query=${encodeURIComponent(document)}`;
}

async function readWorkedQuery(file: string): Promise<WorkedQuery> {
  const document = await readFile(join(folder, file), 'utf8');
  const purpose = /^# (.*)/.exec(document)?.[1] ?? '';
  return { name: file.replace(/\.graphql$/, ''), purpose, document };
}
