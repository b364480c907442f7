import { inMemory } from './mutants-in-memory.ts';

/** A safeguard that is removed by replacing a text that occurs once in a file. */
export interface Mutant {
  /** What the service does without the safeguard. */
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The test file that runs first. If it does not fail, the others run as well. */
  readonly by: 'authority' | 'history' | 'leases' | 'listener' | 'memory' | 'processes' | 'server';
  /** The difference shows only between two connections or processes, which the embedded engine does not have. */
  readonly needsPostgres?: true;
}

const memory = 'src/reference/memory.ts';
const reads = 'src/db/reads/reference-reads.ts';
const triggers = 'migrations/0018_reference_versions.ts';
const counting = 'migrations/0048_versions_without_notify.ts';

const inReads: readonly Omit<Mutant, 'file'>[] = [
  {
    name: 'a refill sees a snapshot for each of its statements',
    from: 'begin isolation level repeatable read read only',
    to: 'begin read only',
    by: 'history',
    needsPostgres: true,
  },
  {
    name: 'a delta is taken though the log does not reach back',
    from: 'if (!isKnown) return undefined;',
    to: '',
    by: 'history',
  },
  {
    name: 'a delta is taken from another history of the same number',
    from: 'Number(at) === base.ref && Number(tag) === base.tag',
    to: 'Number(at) === base.ref',
    by: 'history',
  },
];

const inTriggers: readonly Omit<Mutant, 'file'>[] = [
  {
    name: 'a truncated table is not noticed',
    from: 'update workspace_version set ref = ref + 1, tag = (random() * 9e15)::bigint, auth = auth + 1;',
    to: '',
    by: 'memory',
  },
  {
    name: 'a truncated table leaves the log as a base',
    from: 'delete from reference_change;',
    to: '',
    by: 'memory',
  },
  {
    name: 'truncated tokens live on',
    from: 'tag = (random() * 9e15)::bigint, auth = auth + 1;',
    to: 'tag = (random() * 9e15)::bigint;',
    by: 'authority',
  },
  {
    name: 'the table of tokens has no trigger for a truncate',
    from: 'create trigger access_token_truncated after truncate on access_token',
    to: 'create trigger access_token_truncated after truncate on workspace_version',
    by: 'authority',
  },
  {
    name: 'a version is counted when something is written and not at the commit',
    from: 'after update on ${name}\n        deferrable initially deferred for each row when',
    to: 'after update on ${name}\n        deferrable initially immediate for each row when',
    by: 'history',
    needsPostgres: true,
  },
  {
    name: 'a revoked token does not count',
    from: 'row (old.scopes, old.expires_utc, old.revoked_utc, old.user_account_id, old.token_hash)\n        is distinct from row (new.scopes, new.expires_utc, new.revoked_utc,',
    to: 'row (old.scopes, old.expires_utc, old.user_account_id, old.token_hash)\n        is distinct from row (new.scopes, new.expires_utc,',
    by: 'authority',
  },
  {
    name: 'a member of another role may do what it could',
    from: 'row (old.role, old.status, old.principal_kind, old.display_name, old.user_account_id)\n        is distinct from row (new.role, ',
    to: 'row (old.status, old.principal_kind, old.display_name, old.user_account_id)\n        is distinct from row (',
    by: 'authority',
  },
  {
    name: 'a deleted token lives on',
    from: "for (const table of ['member', 'access_token'])",
    to: "for (const table of ['member'])",
    by: 'authority',
  },
];

const inCounting: readonly Omit<Mutant, 'file'>[] = [
  {
    name: 'two versions of a workspace have the same tag',
    from: 'tag = excluded.tag, ref_xact',
    to: 'ref_xact',
    by: 'memory',
  },
  {
    name: 'the group that a row has left is not logged',
    from: "if tg_op <> 'INSERT' then changed",
    to: "if tg_op = 'DELETE' then changed",
    by: 'memory',
  },
];

const elsewhere: readonly Mutant[] = [
  {
    name: 'no process is told of what was written',
    file: 'src/db/engine/engine.ts',
    from: "() => pool.notify(referenceChannel, 'written')",
    to: '() => undefined',
    by: 'listener',
    needsPostgres: true,
  },
  {
    name: 'a token that is greedy is never told that it was revoked',
    file: 'src/server/authenticate.ts',
    from: 'return recent?.version.auth === holder.auth ? holder.tokenId : undefined;',
    to: 'return recent && holder.tokenId;',
    by: 'authority',
  },
  {
    name: 'a revoked token lives on in memory',
    file: 'src/server/authenticate.ts',
    from: 'if (version.auth === cached.auth) return cached;',
    to: 'if (version.auth >= 0) return cached;',
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'the header with the version is not read',
    file: 'src/server/http/request.ts',
    from: 'parseVersion(req.headers[versionHeader])',
    to: "parseVersion(req.headers['x-nothing'])",
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'no answer says its version',
    file: 'src/server/http/request.ts',
    from: '[versionHeader]: printVersion(snapshot.version),',
    to: '',
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'a row that refers to what is not in memory is answered without it',
    file: 'src/executor/compiled/run/run.ts',
    from: 'if (!this.#acceptsMissing) throw',
    to: 'if (this.#acceptsMissing === undefined) throw',
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'the second run of an answer reads the same memory',
    file: 'src/executor/compiled/run/executor.ts',
    from: 'await reference?.renewed()',
    to: 'await reference?.current()',
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'the server does not listen to notifications',
    file: 'src/reference/notifications.ts',
    from: 'onNotification: () => reference.expireAll()',
    to: 'onNotification: () => undefined',
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'the server does not mind that notifications were lost',
    file: 'src/reference/notifications.ts',
    from: 'onGap: () => reference.expireAll()',
    to: 'onGap: () => undefined',
    by: 'server',
    needsPostgres: true,
  },
  {
    name: 'nothing is expired once it listens again',
    file: 'src/db/engine/listener.ts',
    from: '      this.#reportGap();\n      this.#retryMs',
    to: '      this.#retryMs',
    by: 'listener',
    needsPostgres: true,
  },
  {
    name: 'a prepared write is not known for one',
    file: 'src/db/engine/borrowed-connection.ts',
    from: 'this.#note(statement.signals, workspaceIn(values));',
    to: '',
    by: 'memory',
  },
  {
    name: 'a write is not known for one by its text',
    file: 'src/db/engine/borrowed-connection.ts',
    from: 'this.#note(signalsOf(sql), undefined);',
    to: '',
    by: 'memory',
  },
  {
    name: 'a delta keeps the rows that it replaces',
    file: 'src/reference/cached-table.ts',
    from: "this.rows.filter((row) => !changed.has(row[group] ?? ''))",
    to: 'this.rows.filter(() => group > -2)',
    by: 'memory',
  },
];

export const mutants: readonly Mutant[] = [
  ...inMemory.map((mutant) => ({ ...mutant, file: memory })),
  ...inReads.map((mutant) => ({ ...mutant, file: reads })),
  ...inTriggers.map((mutant) => ({ ...mutant, file: triggers })),
  ...inCounting.map((mutant) => ({ ...mutant, file: counting })),
  ...elsewhere,
];
