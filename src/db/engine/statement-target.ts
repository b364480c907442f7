import type { TenantDb } from '../tables/tenant-tables.ts';
import type { BorrowedConnection } from './borrowed-connection.ts';

/** The target of a statement: a new connection, or, if `connect` is undefined, the transaction `db`. */
export interface StatementTarget {
  readonly db: TenantDb;
  readonly connect: (() => Promise<BorrowedConnection>) | undefined;
}

/** A target that has connections for prepared statements. */
export interface ConnectedTarget extends StatementTarget {
  readonly connect: () => Promise<BorrowedConnection>;
}
