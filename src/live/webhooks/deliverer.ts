import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Semaphore } from '../../db/engine/semaphore.ts';
import { type DueWebhook, extendClaim, releaseWebhook, selectDueWebhooks } from '../../db/webhook-work.ts';
import { Attempts } from './attempts.ts';
import { claimMs, type RoundParts, serveOnce, storeEnded } from './round.ts';

/** The interval of the queries for webhooks with work, which find retries that are due and what other processes have left. */
const pollMs = 1_000;
/** The delay between a wake-up and the query for webhooks with work, so that changes close together need one query. */
const wakeUpDelayMs = 50;
/** How often the claim on a webhook is renewed while it is served. */
const renewMs = 3_000;
/**
 * How many webhooks a process serves at once, and how many of one workspace, so that slow receivers of a few workspaces do not keep
 * the others waiting. Most of that time a webhook waits for its receiver.
 */
const maxServed = { all: 64, ofWorkspace: 8 };
/** How many of them use the database at once. */
const maxWorking = 8;
/** After so many rounds, or so much time, a webhook makes room for others. */
const enough = { rounds: 20, ms: 10_000 };
/** How long a webhook is left alone after a round with an error of our own; each further one in a row doubles it, up to the longest. */
const pauseMs = { first: 1_000, max: 30_000 };
/** How long a process that stops waits for attempts in progress. Another process repeats those that do not end in time. */
const closeWithinMs = 5_000;

/** How many webhooks have their pace and their errors remembered. Without a bound, deleted ones would be remembered for ever. */
const maxRemembered = 1_000;

interface DelivererOptions extends Omit<RoundParts, 'onAttempt' | 'withPermit'> {
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Serves the webhooks of all workspaces. Any number of processes may do so at the same time: each claims a webhook for a few
 * seconds, and the claim of a process that died expires.
 */
export class Deliverer {
  readonly #parts: RoundParts;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #claimId = randomUUID();
  readonly #serving = new Map<string, { workspaceId: string; attempts: Attempts; work: Promise<void> }>();
  /** How many messages are sent at once to webhooks whose receivers are overloaded. */
  readonly #paces = new LRUCache<string, number>({ max: maxRemembered });
  /** For webhooks whose last round had an error of our own: how many such rounds there were in a row. */
  readonly #errors = new LRUCache<string, number>({ max: maxRemembered });
  readonly #counts = { delivered: 0, failed: 0 };
  readonly #work: Promise<void>;
  #wakeUp = Promise.withResolvers<void>();
  #isClosing = false;
  #hasFailed = false;

  constructor({ logger, ...parts }: DelivererOptions) {
    this.#logger = logger;
    const working = new Semaphore(maxWorking);
    this.#parts = {
      ...parts,
      withPermit: (work) => working.run(work),
      onAttempt: (isReceived) => {
        this.#counts[isReceived ? 'delivered' : 'failed'] += 1;
      },
    };
    // The loop is one asynchronous function, so that its statements are not counted as those of the request that woke it.
    this.#work = this.#loop();
  }

  /** The attempts since the start, by outcome. */
  get counts(): Readonly<Record<'delivered' | 'failed', number>> {
    return this.#counts;
  }

  /** How many webhooks are being served. */
  get serving(): number {
    return this.#serving.size;
  }

  /**
   * Makes the loop query for webhooks with work, even if such a query is in progress, and those that are being served look for
   * changes: those of a workspace, or all.
   */
  wake(changed?: string): void {
    this.#wakeUp.resolve();
    for (const { workspaceId, attempts } of this.#serving.values())
      if (changed === undefined || workspaceId === changed) attempts.noteChanges();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    await this.#work;
    await Promise.race([
      Promise.all(Array.from(this.#serving.values(), ({ work }) => work)),
      delay(closeWithinMs, undefined, { ref: false }),
    ]);
  }

  async #loop(): Promise<void> {
    while (!this.#isClosing) {
      const poll = setTimeout(() => this.#wakeUp.resolve(), pollMs).unref();
      await this.#wakeUp.promise;
      clearTimeout(poll);
      await delay(wakeUpDelayMs);
      this.#wakeUp = Promise.withResolvers();
      if (!this.#isClosing) await this.#startDue();
    }
  }

  async #startDue(): Promise<void> {
    if (this.#serving.size >= maxServed.all) return;
    try {
      // Some of these are served by this process already, or have to wait for others of their workspace, so more are read than can
      // be started.
      const found = await selectDueWebhooks(this.#parts.database, new Date(), maxServed.all * 2);
      for (const webhook of found)
        if (!this.#serving.has(webhook.id) && this.#canServe(webhook)) this.#start(webhook);
      this.#hasFailed = false;
    } catch (error) {
      this.#warnOnce(error);
    }
  }

  #canServe({ workspaceId }: DueWebhook): boolean {
    if (this.#serving.size >= maxServed.all) return false;
    const ofWorkspace = [...this.#serving.values()].filter((each) => each.workspaceId === workspaceId);
    return ofWorkspace.length < maxServed.ofWorkspace;
  }

  #start(webhook: DueWebhook): void {
    const { workspaceId, id } = webhook;
    const attempts = new Attempts(this.#parts.sending, this.#paces.get(id));
    const work = this.#serve(webhook, attempts)
      .catch((error: unknown) => this.#warnOnce(error))
      .finally(() => {
        this.#serving.delete(id);
        this.#wakeUp.resolve();
      });
    this.#serving.set(id, { workspaceId, attempts, work });
  }

  async #serve(webhook: DueWebhook, attempts: Attempts): Promise<void> {
    const { workspaceId, id } = webhook;
    const db = this.#parts.database.of(workspaceId);
    let renewed = Promise.resolve();
    const renewal = setInterval(() => {
      // If that fails, the claim expires, and outcomes are stored only if no other process has it then.
      renewed = extendClaim(db, id, this.#claimId, new Date(Date.now() + claimMs)).catch(() => undefined);
    }, renewMs).unref();
    try {
      try {
        await this.#serveRounds(webhook, attempts);
      } finally {
        clearInterval(renewal);
        await renewed;
      }
    } catch (error) {
      const errors = (this.#errors.get(id) ?? 0) + 1;
      this.#errors.set(id, errors);
      const ms = Math.min(pauseMs.first * 2 ** (errors - 1), pauseMs.max);
      // If that fails too, the claim expires by itself.
      await extendClaim(db, id, this.#claimId, new Date(Date.now() + ms)).catch(() => undefined);
      throw error;
    }
    this.#errors.delete(id);
    await releaseWebhook(db, id, this.#claimId, new Date(Date.now() - claimMs));
    // Webhooks without an entry are sent to at full pace.
    if (attempts.isFullPace) this.#paces.delete(id);
    else this.#paces.set(id, attempts.atOnce);
  }

  /** Serves a webhook for some rounds. While attempts take long, it goes on until another webhook may have to wait for it. */
  async #serveRounds(webhook: DueWebhook, attempts: Attempts): Promise<void> {
    const untilMs = performance.now() + enough.ms;
    const isOver = (round: number) => {
      if (this.#isClosing) return true;
      if (round < enough.rounds && performance.now() < untilMs) return false;
      return !attempts.hasOpen || !this.#canServe(webhook);
    };
    try {
      for (let round = 0; !isOver(round); round += 1)
        if (!(await serveOnce(this.#parts, webhook, this.#claimId, attempts))) break;
    } finally {
      await attempts.end();
      await storeEnded(this.#parts, webhook, this.#claimId, attempts);
    }
  }

  /** Logs the first of several failures in a row. The next query tries again. */
  #warnOnce(error: unknown): void {
    if (!this.#hasFailed && !this.#isClosing)
      this.#logger.warn({ err: error }, 'webhooks could not be served');
    this.#hasFailed = true;
  }
}
