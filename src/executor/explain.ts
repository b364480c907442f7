import {
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { SerialQueue } from '../resolvers/writes/serial-queue.ts';
import { writesOf } from '../resolvers/writes/write-transaction.ts';
import { Loaders } from '../db/reads/loaders.ts';
import { anyWorkspace } from '../db/engine/tenant-handle.ts';
import { RecordingDatabase } from '../db/query/recording.ts';
import { memberRole, principalKind } from '../model/codes.ts';
import { type Principal, scopes, type SignedIn } from '../resolvers/context.ts';
import { RootResults } from '../schema/builder/root-results.ts';
import { compileOperation } from './compiled/compile.ts';
import { newFrame, NotCompilable } from './compiled/frame.ts';
import { Run } from './compiled/run.ts';
import { priceOperation } from './cost.ts';
import { fragmentsOf } from './execute.ts';

/** How an operation would be answered; found out without a database. */
export interface Explanation {
  /** The most objects that could be returned. */
  cost: number;
  /** The statements of each round trip; undefined when the graphql-js executor answers. */
  levels: readonly (readonly string[])[] | undefined;
}

const nobody = '00000000-0000-7000-8000-000000000000';

/** An owner with all scopes, since the operation is explained and not who may run it. */
const principal: Principal = {
  workspaceId: nobody,
  userAccountId: nobody,
  memberId: nobody,
  displayName: '',
  role: memberRole.owner,
  principalKind: principalKind.user,
  tokenId: nobody,
  scopes: new Set(scopes),
  expiresUtc: null,
};

/** Compiles an operation and records the statements that it would send; throws for arguments that are refused. */
export async function explainOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): Promise<Explanation> {
  const fragments = fragmentsOf(document);
  const { requested: cost } = priceOperation({ schema, operation, fragments, variables }, Infinity);
  if (operation.operation !== OperationTypeNode.QUERY) return { cost, levels: undefined };
  try {
    const plan = compileOperation(schema, operation, fragments, variables);
    const recording = new RecordingDatabase();
    // Without reference data in memory, so that the statements for those are recorded as well.
    const results = new RootResults();
    const how = { cached: undefined, acceptsMissing: true, results };
    const run = new Run(contextOf(recording), variables, how);
    await plan.fetch(newFrame(run, [{}], []), run);
    return { cost, levels: recording.roundTrips };
  } catch (error) {
    if (error instanceof NotCompilable) return { cost, levels: undefined };
    throw error;
  }
}

function contextOf(recording: RecordingDatabase): SignedIn {
  const now = new Date();
  const quota = { limit: 0, remaining: 0, resetUtc: now };
  return {
    requestId: 'explain',
    db: anyWorkspace,
    connect: () => recording.connect(),
    principal,
    loaders: new Loaders(anyWorkspace),
    writes: writesOf(new SerialQueue(), { batching: false }),
    files: undefined,
    now,
    ping: () => Promise.resolve(),
    rateLimit: { requests: quota, cost: quota },
  };
}
