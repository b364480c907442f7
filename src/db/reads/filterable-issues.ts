import { sql } from 'kysely';
import { issueColumns } from '../../model/issue-columns.ts';
import type { CachedDeclaration } from '../tables/cached-tables.ts';
import type { Row, TableName } from '../tables/tables.ts';
import { untyped } from '../query/any-tables.ts';
import { Prepared } from '../statements/prepared.ts';
import { Slot } from '../statements/slots.ts';
import { uuidArray } from '../statements/uuid-array.ts';
import { anyWorkspace } from '../engine/tenant-handle.ts';
import type { BorrowedConnection, TextRows } from '../engine/borrowed-connection.ts';

type Columns<Name extends TableName> = readonly (keyof Row<Name> & string)[];

/**
 * The columns of issues and of their join tables by which filters are evaluated in memory. Filters with other columns
 * need SQL.
 */
export const filterableTables = {
  issue: {
    group: 'id',
    // The texts are left out: filters compare the folded title, and none reads the description.
    columns: issueColumns.filter((column) => column !== 'title' && column !== 'description'),
  },
  issueLabel: { group: 'issueId', columns: ['issueId', 'labelId'] satisfies Columns<'issueLabel'> },
  issueAssignee: {
    group: 'issueId',
    columns: ['issueId', 'userAccountId'] satisfies Columns<'issueAssignee'>,
  },
} as const satisfies Partial<Record<TableName, CachedDeclaration>>;

type FilterableTable = keyof typeof filterableTables;

const names = Object.keys(filterableTables) as FilterableTable[];
const ids = new Slot('ids');

const statements = new Map(
  names.map((table) => {
    const { group, columns } = filterableTables[table];
    const rows = untyped(anyWorkspace)
      .selectFrom(`${table} as r0`)
      .select(columns.map((column) => `r0.${column}`))
      .where(sql<boolean>`${sql.ref(`r0.${group}`)} = any(${ids}::uuid[])`);
    return [table, new Prepared(rows)];
  }),
);

/** The issues of these ids, with their links: the rows of each table as PostgreSQL prints them. */
export async function selectFilterableIssues(
  connection: Pick<BorrowedConnection, 'texts'>,
  workspaceId: string,
  issueIds: readonly string[],
): Promise<Map<FilterableTable, TextRows<readonly (string | null)[]>>> {
  const values = { workspaceId, ids: uuidArray(issueIds) };
  const read = await Promise.all(
    [...statements].map(
      async ([table, statement]) => [table, await connection.texts(statement, values)] as const,
    ),
  );
  return new Map(read);
}
