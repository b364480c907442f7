/** Asks that all of a query is answered from one snapshot of the database. */
export const snapshotHeader = 'X-Workgraph-Snapshot';
