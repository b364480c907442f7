import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { readBounds } from '../../src/db/query/read-bounds.ts';
import { Loaders } from '../../src/db/reads/loaders.ts';
import { DocumentReader } from '../../src/executor/documents/reader.ts';
import { chooseOperation, executeOperation, type OperationContext } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { coerceVariables } from '../../src/executor/inputs/variables.ts';
import { memberRole, principalKind } from '../../src/model/codes.ts';
import { ReferenceMemory } from '../../src/reference/memory.ts';
import { scopes } from '../../src/resolvers/context.ts';
import { AppError } from '../../src/resolvers/errors.ts';
import { SerialQueue } from '../../src/resolvers/writes/serial-queue.ts';
import { writesOf } from '../../src/resolvers/writes/write-transaction.ts';
import { schema } from '../../src/schema/index.ts';
import { type ExplainedStatement, Explainer, ExplainingConnection } from './explained.ts';
import type { JudgedRead } from './judge.ts';

/** An answered shape: its data, and what its statements did. */
export interface AnsweredShape {
  readonly data: Record<string, unknown>;
  readonly statements: readonly ExplainedStatement[];
}

export interface Gate {
  readonly client: pg.Client;
  /** A connection for unbounded statements: with much memory, and closed when this process ends. */
  readonly unbounded: pg.Client;
  readonly workspaceId: string;
  /** The variables of an operation as resolvers receive them, with the internal values of enums. */
  coerced(document: string, variables: Record<string, unknown>): Record<string, unknown>;
  /** Answers an operation with the product's compiled executor, and explains each of its statements. */
  execute(
    document: string,
    variables: Record<string, unknown>,
    options: { isGeneric: boolean },
  ): Promise<AnsweredShape>;
  close(): Promise<void>;
}

/** Opens the product's executor on a filled database. */
export async function openGate(url: string, readBudget: number): Promise<Gate> {
  const database = await openDatabase({ url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const generic = new pg.Client({ connectionString: url });
  await generic.connect();
  await generic.query('set plan_cache_mode = force_generic_plan');
  const unbounded = new pg.Client({ connectionString: url });
  await unbounded.connect();
  await unbounded.query(`set work_mem = '1GB'; set client_connection_check_interval = '5s'`);
  const customExplainer = new Explainer(client, { isGeneric: false });
  const genericExplainer = new Explainer(generic, { isGeneric: true });
  const { rows } = await client.query(`
    select w.workspace_id as "workspaceId", m.user_account_id as "userAccountId", m.id as "memberId"
    from workspace w join member m using (workspace_id) order by m.role, m.id limit 1`);
  const { workspaceId, userAccountId, memberId } = rows[0];
  const reference = new ReferenceMemory(database);
  const reader = new DocumentReader(schema);
  const bounds = readBounds(readBudget);
  const quota = { limit: 0, remaining: 0, resetUtc: new Date() };
  return {
    client,
    unbounded,
    workspaceId,
    coerced: (text, variables) => {
      const document = reader.read(text);
      const operation = chooseOperation(document, undefined);
      return coerceVariables({ schema, operation, fragments: fragmentsOf(document) }, variables);
    },
    execute: async (text, variables, { isGeneric }) => {
      const statements: ExplainedStatement[] = [];
      const db = database.of(workspaceId);
      const context: OperationContext = {
        requestId: 'shapes',
        db,
        principal: {
          workspaceId,
          userAccountId,
          memberId,
          displayName: '',
          role: memberRole.owner,
          principalKind: principalKind.user,
          tokenId: memberId,
          scopes: new Set(scopes),
          expiresUtc: null,
        },
        loaders: new Loaders(db, bounds),
        bounds,
        connect: async () =>
          new ExplainingConnection(
            await database.connect(),
            isGeneric ? genericExplainer : customExplainer,
            statements,
          ),
        reference: {
          current: () => reference.current(workspaceId, undefined),
          renewed: () => reference.renewed(workspaceId),
        },
        files: undefined,
        now: new Date(),
        ping: () => Promise.resolve(),
        writes: writesOf(new SerialQueue(), { batching: false }),
        rateLimit: { requests: quota, cost: quota },
        executor: 'compiled',
        maxCost: Number.MAX_SAFE_INTEGER,
        fellBack: (reason) => {
          // A refusal is worded by graphql-js.
          if (reason instanceof AppError) return;
          throw new Error('graphql-js answers a shape.', { cause: reason });
        },
      };
      const { data, errors } = await executeOperation({
        schema,
        document: reader.read(text),
        variables,
        context,
      });
      if (errors || !data) throw new Error(JSON.stringify(errors));
      return { data, statements };
    },
    close: async () => {
      await reference.close();
      await Promise.all([client.end(), generic.end(), unbounded.end()]);
      await database.close();
    },
  };
}

/** The results so far, a line for each check, so that an interrupted run can be continued. */
export class Progress {
  readonly #file: string;
  readonly #done: ReadonlyMap<string, JudgedRead[]>;

  constructor(file: string, isResumed: boolean) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    if (!isResumed) writeFileSync(file, '');
    // The last line may have been cut off.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    this.#done = new Map(lines.map((line) => JSON.parse(line) as [string, JudgedRead[]]));
  }

  get(name: string): JudgedRead[] | undefined {
    return this.#done.get(name);
  }

  set(name: string, result: JudgedRead[]): void {
    appendFileSync(this.#file, `${JSON.stringify([name, result])}\n`);
  }
}
