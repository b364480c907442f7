import type { TenantDb } from '../tables/tenant-tables.ts';
import type { BorrowedConnection } from './borrowed-connection.ts';

/** The target of a statement: a new connection, or, if `connect` is undefined, the transaction `db`. */
export interface Sending {
  readonly db: TenantDb;
  readonly connect: (() => Promise<BorrowedConnection>) | undefined;
}

/** A target that has connections for prepared statements. */
export interface Connected extends Sending {
  readonly connect: () => Promise<BorrowedConnection>;
}
