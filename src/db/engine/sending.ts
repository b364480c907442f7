import type { TenantDb } from '../tables/tenant-tables.ts';
import type { Lease } from './lease.ts';

/** Where a statement is sent: to a new connection, or, if `connect` is undefined, to the transaction `db`. */
export interface Sending {
  readonly db: TenantDb;
  readonly connect: (() => Promise<Lease>) | undefined;
}
