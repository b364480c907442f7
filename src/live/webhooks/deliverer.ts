import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type DueWebhook, releaseWebhook, selectDueWebhooks } from '../../db/webhook-work.ts';
import { fullPace, type Pace, type RoundParts, serveOnce } from './round.ts';

/** The interval at which a process looks for webhooks with work: retries that are due, and what other processes have left. */
const pollMs = 1_000;
/** The shortest time between two looks after changes. */
const gatherMs = 50;
/** How many webhooks a process serves at once. */
const mostServed = 8;
/** After so many rounds, another webhook is served. */
const roundsInTurn = 20;
/** How long the end of a process waits for attempts in progress. What does not end is sent again by another process. */
const closeWithinMs = 5_000;

interface DelivererOptions extends Omit<RoundParts, 'onAttempt'> {
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Serves the webhooks of all workspaces. Any number of processes may do so at the same time: each claims a webhook for some seconds,
 * and the claim of a process that died expires.
 */
export class Deliverer {
  readonly #parts: RoundParts;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #claimId = randomUUID();
  readonly #serving = new Map<string, Promise<void>>();
  readonly #paces = new Map<string, Pace>();
  readonly #counts = { delivered: 0, failed: 0 };
  readonly #work: Promise<void>;
  #cause = Promise.withResolvers<void>();
  #isClosing = false;
  #hasFailed = false;

  constructor({ logger, ...parts }: DelivererOptions) {
    this.#logger = logger;
    this.#parts = {
      ...parts,
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

  /** Asks for a look that begins after this moment. */
  wake(): void {
    this.#cause.resolve();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    await this.#work;
    await Promise.race([
      Promise.all(this.#serving.values()),
      delay(closeWithinMs, undefined, { ref: false }),
    ]);
  }

  async #loop(): Promise<void> {
    while (!this.#isClosing) {
      const poll = setTimeout(() => this.wake(), pollMs).unref();
      await this.#cause.promise;
      clearTimeout(poll);
      await delay(gatherMs);
      this.#cause = Promise.withResolvers();
      if (!this.#isClosing) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const room = mostServed - this.#serving.size;
    if (room <= 0) return;
    try {
      const { unscoped } = this.#parts.database;
      // Those that are being served may be among the first ones.
      const found = await selectDueWebhooks(unscoped, new Date(), mostServed * 2);
      const due = found.filter(({ id }) => !this.#serving.has(id)).slice(0, room);
      for (const webhook of due) this.#begin(webhook);
      this.#hasFailed = false;
    } catch (error) {
      this.#tell(error);
    }
  }

  #begin(webhook: DueWebhook): void {
    const { id } = webhook;
    const work = this.#serve(webhook)
      .catch((error: unknown) => this.#tell(error))
      .finally(() => {
        this.#serving.delete(id);
        this.wake();
      });
    this.#serving.set(id, work);
  }

  async #serve(webhook: DueWebhook): Promise<void> {
    const pace = this.#paces.get(webhook.id) ?? fullPace();
    try {
      for (let round = 0; round < roundsInTurn && !this.#isClosing; round += 1) {
        if (!(await serveOnce(this.#parts, webhook, this.#claimId, pace))) break;
      }
    } finally {
      await releaseWebhook(this.#parts.database.of(webhook.workspaceId), webhook.id, this.#claimId);
    }
    // Only webhooks that are slowed down have to be remembered.
    if (pace.atOnce < fullPace().atOnce) this.#paces.set(webhook.id, pace);
    else this.#paces.delete(webhook.id);
  }

  /** The poll tries again, and one line in the log is enough. */
  #tell(error: unknown): void {
    if (!this.#hasFailed && !this.#isClosing)
      this.#logger.warn({ err: error }, 'webhooks could not be served');
    this.#hasFailed = true;
  }
}
