import type { TenantDb } from '../tables/tenant-tables.ts';
import type { Lease } from './lease.ts';

/** The target of a statement: a new connection, or, if `connect` is undefined, the transaction `db`. */
export interface Sending {
  readonly db: TenantDb;
  readonly connect: (() => Promise<Lease>) | undefined;
}

/** A target that has connections for prepared statements. */
export interface Connected extends Sending {
  readonly connect: () => Promise<Lease>;
}
