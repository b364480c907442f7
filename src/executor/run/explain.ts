import {
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { SerialQueue } from '../../resolvers/writes/serial-queue.ts';
import { writesOf } from '../../resolvers/writes/write-transaction.ts';
import { Loaders } from '../../db/reads/loaders.ts';
import { anyWorkspace } from '../../db/engine/tenant-handle.ts';
import { defaultReadBudget, readBounds } from '../../db/query/read-bounds.ts';
import { RecordingDatabase } from '../../db/engine/recording-database.ts';
import { memberRole, principalKind } from '../../model/codes.ts';
import { type Principal, scopes, type SignedIn } from '../../resolvers/context.ts';
import { RootResults } from '../../schema/builder/root-results.ts';
import { compileOperation } from '../compiled/compile/compile.ts';
import { newFrame, NotCompilable } from '../compiled/run/frame.ts';
import { Run } from '../compiled/run/run.ts';
import { priceOperation } from '../cost/operation-cost.ts';
import { fragmentsOf } from '../selections/operation.ts';

/** How an operation would be answered, as found without a database. */
interface Explanation {
  /** The maximum number of objects that could be returned. */
  cost: number;
  /** The statements of each round trip; undefined when the graphql-js executor answers. */
  levels: RoundTrips | undefined;
  /** The same in the worst case, in which no page of a filtered list is full before all steps of reading it have been taken. */
  longest: RoundTrips | undefined;
}

type RoundTrips = readonly (readonly string[])[];

const nobody = '00000000-0000-7000-8000-000000000000';

/** An owner with all scopes, because an explanation does not depend on permissions. */
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

/** Compiles an operation and records the statements that it would send. Throws if its arguments are refused. */
export async function explainOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): Promise<Explanation> {
  const fragments = fragmentsOf(document);
  const { requested: cost } = priceOperation({ schema, operation, fragments, variables }, Infinity);
  if (operation.operation !== OperationTypeNode.QUERY) return { cost, levels: undefined, longest: undefined };
  try {
    const plan = compileOperation(schema, operation, fragments, variables);
    const recorded = async (stops: boolean): Promise<RoundTrips> => {
      const recording = new RecordingDatabase({ stops });
      // No reference data is cached, so that the statements that read it are recorded as well.
      const run = new Run(contextOf(recording), variables, {
        cached: undefined,
        replica: undefined,
        acceptsMissing: true,
        form: 'data',
        rowRenderer: undefined,
        results: new RootResults(),
      });
      await plan.fetch(newFrame(run, [{}], []), run);
      return recording.roundTrips;
    };
    return { cost, levels: await recorded(false), longest: await recorded(true) };
  } catch (error) {
    if (error instanceof NotCompilable) return { cost, levels: undefined, longest: undefined };
    throw error;
  }
}

function contextOf(recording: RecordingDatabase): SignedIn {
  const now = new Date();
  const bounds = readBounds(defaultReadBudget);
  const quota = { limit: 0, remaining: 0, resetUtc: now };
  return {
    requestId: 'explain',
    db: anyWorkspace,
    connect: () => recording.connect(),
    principal,
    loaders: new Loaders(anyWorkspace, bounds),
    bounds,
    writes: writesOf(new SerialQueue(), { batching: false }),
    files: undefined,
    now,
    ping: () => Promise.resolve(),
    rateLimit: { requests: quota, cost: quota },
  };
}
