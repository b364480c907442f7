import { createHash } from 'node:crypto';
import type pg from 'pg';

/** The caller of a request. */
export interface Caller {
  readonly workspaceId: string;
  readonly userAccountId: string;
  readonly displayName: string;
  readonly managesAll: boolean;
  readonly scopes: ReadonlySet<string>;
}

// The contract allows a second until a revocation takes effect, so a server written by hand would cache tokens that
// long.
const lifeMs = Number(process.env['LIMIT_TOKEN_CACHE_MS'] ?? 1_000);

/** Finds callers by the hash of their token. LIMIT and all peers use it. */
export class Callers {
  readonly #pool: pg.Pool;
  readonly #known = new Map<string, { until: number; caller: Promise<Caller | undefined> }>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The caller with this Authorization header; undefined if there is none. */
  find(authorization: string | null | undefined): Promise<Caller | undefined> {
    if (!authorization?.startsWith('Bearer ')) return Promise.resolve(undefined);
    const now = Date.now();
    const hash = createHash('sha256').update(authorization.slice(7)).digest();
    const key = hash.toString('latin1');
    const kept = this.#known.get(key);
    if (kept && kept.until > now) return kept.caller;
    const caller = this.#lookUp(hash);
    if (this.#known.size > 10_000) this.#known.clear();
    this.#known.set(key, { until: now + lifeMs, caller });
    caller.catch(() => this.#known.delete(key));
    return caller;
  }

  async #lookUp(hash: Buffer): Promise<Caller | undefined> {
    const { rows } = await this.#pool.query({ name: 'token', text: tokenHolder, values: [hash] });
    const [row] = rows;
    if (!row) return undefined;
    return {
      workspaceId: row.workspace_id,
      userAccountId: row.user_account_id,
      displayName: row.display_name,
      managesAll: row.role <= 2,
      scopes: new Set(row.scopes),
    };
  }
}

const tokenHolder = `
with used as (
  update access_token set last_used_utc = now()
  where token_hash = $1 and (last_used_utc is null or last_used_utc < now() - interval '1 minute'))
select t.workspace_id, t.user_account_id, m.display_name, m.role, t.scopes
from access_token t join member m on m.workspace_id = t.workspace_id and m.user_account_id = t.user_account_id
where t.token_hash = $1 and t.revoked_utc is null and (t.expires_utc is null or t.expires_utc > now()) and m.status in (1, 2)`;
