import { CompiledQuery } from 'kysely';
import { Prepared } from '../statements/prepared.ts';
import type { BorrowedConnection } from './borrowed-connection.ts';
import type { Generations } from './generations.ts';
import { pollIntervalMs, PositionWatch } from './position-watch.ts';
import { type PostgresLocation, ServerPool } from './postgres.ts';
import {
  databaseIdentitySql,
  lsnBytes,
  positionOf,
  primaryPositionSql,
  unknownPosition,
  type WalPosition,
} from './wal-position.ts';

/** A replica that is further behind the primary than this answers no queries. */
const maxBehindMs = 5_000;
const maxBehindBytes = 64 * 1024 * 1024;
/** A position that a server reported longer ago than this is not used. */
const maxPositionAgeMs = 10 * pollIntervalMs;

/** A server that answers the statements of a query. */
export interface ReadServer {
  connect(): Promise<BorrowedConnection>;
  shared(statement: Prepared): BorrowedConnection | undefined;
  /** Whether it has everything that was committed before a time, by the clock of `performance.now()`. */
  hasCommitsBefore(ms: number): boolean;
  /** Counts a query whose statements it answers. */
  countQuery(): void;
}

/**
 * Called when a replica begins or ceases to serve. `problem` says why it does not serve, and `error` is that of its
 * connection.
 */
export type ReplicaReport = (replica: number, problem: string | undefined, error: unknown) => void;

interface Observation<Value> {
  readonly value: Value;
  readonly startedMs: number;
}

/** What a server of `READ_DATABASE_URLS` reports about itself. */
interface ReplicaState {
  readonly isReplica: boolean;
  readonly database: string;
  readonly position: WalPosition;
}

/**
 * The role may lack permission to see the row of the WAL receiver, and there is no such row while the primary is gone. The
 * control file then has the timeline of the last restart point: an older one than the true one, so the replica serves nothing for
 * a while.
 */
const replicaStateSql = `select pg_is_in_recovery() as replica, ${databaseIdentitySql} as database, pg_last_wal_replay_lsn()::text as lsn,
  coalesce((select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint()))::text as timeline`;

/** The replicas of a primary, and the position of each in its write-ahead log. */
export class Replicas {
  readonly #replicas: readonly Replica[];
  readonly #primary: PrimaryPositions;
  readonly #pool: ServerPool;
  #last = 0;

  /** Each replica is used with the settings of the primary's location, including its number of connections. */
  constructor(location: PostgresLocation, pool: ServerPool, urls: readonly string[]) {
    this.#pool = pool;
    this.#primary = new PrimaryPositions(location.url, pool.generations);
    this.#replicas = urls.map((url) => new Replica({ ...location, url }, this.#primary));
  }

  /** The next replica, round robin, that has everything up to a position; undefined when only the primary may answer. */
  choose(position: WalPosition | undefined): ReadServer | undefined {
    for (let tries = 0; tries < this.#replicas.length; tries += 1) {
      this.#last = (this.#last + 1) % this.#replicas.length;
      const replica = this.#replicas[this.#last];
      if (replica?.serves && (!position || replica.hasReached(position))) return replica;
    }
    return undefined;
  }

  /** The current position of the primary, which includes everything that was committed before this call. */
  async position(): Promise<WalPosition> {
    const connection = this.#pool.shared(positionStatement) ?? (await this.#pool.connect());
    try {
      const [row] = (await connection.texts(positionStatement, {})).rows;
      const [file, lsn] = row ?? [];
      return file && lsn ? positionOf({ file, lsn }) : unknownPosition;
    } finally {
      connection.release();
    }
  }

  /** Calls the listener when a replica begins or ceases to serve. */
  onChange(report: ReplicaReport): void {
    for (const [index, replica] of this.#replicas.entries())
      replica.onChange((problem, error) => report(index + 1, problem, error));
  }

  /** Reads a number of each replica. The keys are the numbers of the replicas in the setting, from 1. */
  each(read: (replica: Readonly<ReplicaLoad>) => number): Record<string, number> {
    return Object.fromEntries(
      this.#replicas.map((replica, index) => [String(index + 1), read(replica.load())]),
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.#primary.close(), ...this.#replicas.map((replica) => replica.close())]);
  }
}

const positionStatement = new Prepared(CompiledQuery.raw(primaryPositionSql));

interface ReplicaLoad {
  readonly serves: boolean;
  /** NaN while it is not known. */
  readonly lagBytes: number;
  readonly lagMs: number;
  readonly queries: number;
}

/** The positions of the primary in the last few seconds. */
class PrimaryPositions {
  /** The identity of its database; undefined until the primary has answered. */
  #database: string | undefined;
  /** Oldest first. */
  #seen: Observation<WalPosition>[] = [];
  readonly #watch: PositionWatch<{ position: WalPosition; database: string }>;

  constructor(url: string, generations: Generations) {
    this.#watch = new PositionWatch({
      url,
      name: 'workgraph position',
      text: `select *, ${databaseIdentitySql} as database from (${primaryPositionSql}) as position`,
      read: ({ file, lsn, database }) => ({
        position: positionOf({ file: file ?? '', lsn: lsn ?? '' }),
        database: database ?? '',
      }),
      onSeen: ({ position, database }, startedMs) => {
        this.#database = database;
        this.#see({ value: position, startedMs });
      },
      onLost: () => {
        this.#seen = [];
      },
    });
    generations.onNew(() => this.#watch.reopen());
  }

  get database(): string | undefined {
    return this.#database;
  }

  /** The last position; undefined if the primary has not answered lately. */
  get last(): WalPosition | undefined {
    const last = this.#seen.at(-1);
    return last && performance.now() - last.startedMs < maxPositionAgeMs ? last.value : undefined;
  }

  /** A position with everything that was committed before a time; undefined when it is not known yet. */
  positionAfter(ms: number): WalPosition | undefined {
    return this.#seen.find(({ startedMs }) => startedMs >= ms)?.value;
  }

  /**
   * How long ago the primary passed a position, at least; 0 if it has not. Undefined if it was passed before the oldest known
   * position, and that one is so recent that the time could be short or long.
   */
  passedForMs({ bytes }: WalPosition): number | undefined {
    const index = this.#seen.findIndex(({ value }) => value.bytes > bytes);
    const passed = this.#seen[index];
    if (!passed) return 0;
    const ms = performance.now() - passed.startedMs;
    return index === 0 && ms <= maxBehindMs ? undefined : ms;
  }

  close(): Promise<void> {
    return this.#watch.close();
  }

  #see(seen: Observation<WalPosition>): void {
    // Positions of different timelines cannot be compared.
    if (this.#seen.at(-1)?.value.timeline !== seen.value.timeline) this.#seen = [];
    this.#seen.push(seen);
    const oldestMs = seen.startedMs - maxBehindMs - maxPositionAgeMs;
    while ((this.#seen[0]?.startedMs ?? oldestMs) < oldestMs) this.#seen.shift();
  }
}

class Replica implements ReadServer {
  readonly #location: PostgresLocation;
  readonly #primary: PrimaryPositions;
  readonly #watch: PositionWatch<ReplicaState>;
  #pool: ServerPool;
  #seen: Observation<ReplicaState> | undefined;
  #report: ((problem: string | undefined, error: unknown) => void) | undefined;
  /** Whether it served at the last report; undefined before the first one. */
  #reportedServing: boolean | undefined;
  readonly #startingUntilMs = performance.now() + maxPositionAgeMs;
  #queries = 0;

  constructor(location: PostgresLocation, primary: PrimaryPositions) {
    this.#location = location;
    this.#primary = primary;
    this.#pool = new ServerPool(location);
    this.#watch = new PositionWatch({
      url: location.url,
      name: 'workgraph replica position',
      text: replicaStateSql,
      read: ({ replica, database, lsn, timeline }) => ({
        isReplica: replica === 't',
        database: database ?? '',
        position: lsn ? { timeline: Number(timeline), bytes: lsnBytes(lsn) } : unknownPosition,
      }),
      onSeen: (value, startedMs) => {
        this.#seen = { value, startedMs };
        this.#reportChange(undefined);
      },
      onLost: (error) => this.#lose(error),
    });
  }

  connect(): Promise<BorrowedConnection> {
    return this.#pool.connect();
  }

  shared(statement: Prepared): BorrowedConnection | undefined {
    return this.#pool.shared(statement);
  }

  /** Calls the listener when the replica begins or ceases to serve, for the first time soon after the start. */
  onChange(report: (problem: string | undefined, error: unknown) => void): void {
    this.#report = report;
  }

  countQuery(): void {
    this.#queries += 1;
  }

  /** Whether it follows the primary closely enough. */
  get serves(): boolean {
    const { lagBytes, lagMs } = this.#lag();
    return lagBytes <= maxBehindBytes && lagMs <= maxBehindMs;
  }

  hasReached({ timeline, bytes }: WalPosition): boolean {
    const position = this.#position;
    return position !== undefined && position.timeline === timeline && position.bytes >= bytes;
  }

  hasCommitsBefore(ms: number): boolean {
    const position = this.#primary.positionAfter(ms);
    return position !== undefined && this.hasReached(position);
  }

  load(): ReplicaLoad {
    return { ...this.#lag(), serves: this.serves, queries: this.#queries };
  }

  async close(): Promise<void> {
    await Promise.all([this.#watch.close(), this.#pool.end()]);
  }

  /** The position that it has replayed; undefined if it has not answered recently, or is no replica of this database. */
  get #position(): WalPosition | undefined {
    const { value: state, startedMs = 0 } = this.#seen ?? {};
    if (!state?.isReplica || performance.now() - startedMs > maxPositionAgeMs) return undefined;
    return state.database === this.#primary.database ? state.position : undefined;
  }

  /** NaN if it is unknown, for instance on another timeline. */
  #lag(): { lagBytes: number; lagMs: number } {
    const [position, primary] = [this.#position, this.#primary.last];
    if (!position || !primary || position.timeline !== primary.timeline)
      return { lagBytes: Number.NaN, lagMs: Number.NaN };
    return {
      lagBytes: Math.max(primary.bytes - position.bytes, 0),
      lagMs: this.#primary.passedForMs(position) ?? Number.NaN,
    };
  }

  /** Statements that wait for a server that is gone fail at once, so that the primary can answer them. */
  #lose(error: unknown): void {
    const hadAnswered = this.#seen !== undefined;
    this.#seen = undefined;
    this.#reportChange(error);
    if (!hadAnswered) return;
    const lost = this.#pool;
    this.#pool = new ServerPool(this.#location);
    lost.destroyConnections();
    void lost.end();
  }

  #reportChange(error: unknown): void {
    const { serves } = this;
    // When this process starts, the positions of the primary and the replica are not known yet.
    const isStarting = this.#reportedServing === undefined && performance.now() < this.#startingUntilMs;
    if (!this.#report || serves === this.#reportedServing || (!serves && isStarting)) return;
    this.#reportedServing = serves;
    this.#report(serves ? undefined : this.#problem(), error);
  }

  /** Why it does not serve. */
  #problem(): string {
    const state = this.#seen?.value;
    const primary = this.#primary.last;
    if (!state) return 'it does not answer';
    if (!state.isReplica) return 'it is not a replica, or was promoted';
    if (!primary) return 'the position of the primary is not known';
    if (state.database !== this.#primary.database)
      return 'its database is not that of DATABASE_URL, or it is a standby of another primary';
    if (state.position.timeline !== primary.timeline)
      return `it is on timeline ${state.position.timeline}, and the primary on ${primary.timeline}`;
    return 'it is too far behind, or it is not known yet how far';
  }
}
