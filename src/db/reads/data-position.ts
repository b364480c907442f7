import type { BorrowedConnection } from '../engine/borrowed-connection.ts';
import { anyWorkspace } from '../engine/tenant-handle.ts';
import { Prepared } from '../statements/prepared.ts';

/**
 * The version of the data of a workspace: while it stays equal, no row of the `coveredTables` changes. It consists of the
 * version of the reference data and the newest position of the log of changes, each with its tag, which distinguishes
 * histories with the same numbers, and of the mark of the newest write that the log does not record.
 */
interface DataPosition {
  readonly ref: number;
  readonly tag: number;
  readonly change: string;
}

/** The connections on which a statement that reads can run. */
interface ReadConnections {
  connect(): Promise<BorrowedConnection>;
  shared?: ((statement: Prepared) => BorrowedConnection | undefined) | undefined;
}

// Returns no row while a change waits in the inbox: its write is visible, but has no position yet.
const statement = new Prepared(
  anyWorkspace
    .selectFrom('workspaceVersion')
    .innerJoin('changeHead', 'changeHead.workspaceId', 'workspaceVersion.workspaceId')
    .select([
      'workspaceVersion.ref',
      'workspaceVersion.tag',
      'changeHead.position',
      'changeHead.tag as changeTag',
      'changeHead.unloggedTag',
    ])
    .where((eb) => eb.not(eb.exists(eb.selectFrom('changeInbox').select('changeInbox.id')))),
);

/**
 * The position of a workspace, before anything else of the answer is read. Undefined if a change waits for its
 * position, or if the workspace has no log yet, as after a restore.
 */
export async function selectDataPosition(
  server: ReadConnections,
  workspaceId: string,
): Promise<DataPosition | undefined> {
  const quick = server.shared?.(statement);
  const connection = quick ?? (await server.connect());
  try {
    const { rows } = await connection.texts(statement, { workspaceId });
    const [row] = rows;
    if (!row) return undefined;
    const [ref, tag, ...change] = row;
    return { ref: Number(ref), tag: Number(tag), change: change.join('.') };
  } finally {
    if (!quick) connection.release();
  }
}
