import type { DueDelivery } from '../../db/webhook-work.ts';
import type { WebhookRow } from '../../db/webhooks.ts';
import { encodeId } from '../../resolvers/ids.ts';
import { isReceived, type WebhookSending } from '../../resolvers/webhooks/sending.ts';
import { isOverloaded, type AttemptResult } from './outcomes.ts';

/** How long an attempt may take. */
export const attemptMs = 15_000;
/** How many messages are sent to one webhook at once. */
const maxAtOnce = 4;
/** After this time a round begins no more attempts, so that a process that dies has not left many outcomes unstored. */
const startsWithinMs = 10_000;
/** How long a round waits for the attempts that it has begun last, so that most of their outcomes are stored together. */
const lingerMs = 250;
/** While attempts are in progress, due retries are looked for this often. */
const retryPollMs = 1_000;
/** The delay between a change and the read of the log, so that changes in quick succession need one read. An attempt that ends ends the delay. */
const changeDelayMs = 50;

/** An attempt that has ended. */
export interface EndedAttempt extends AttemptResult {
  /** The revision of the webhook when the attempt began. */
  readonly revision: number;
  /** Attempts are numbered as they begin. */
  readonly number: number;
}

/** The attempts for one webhook. They may take longer than a round, so that a message that hangs holds up no others. */
export class Attempts {
  readonly #sending: Pick<WebhookSending, 'send'>;
  /** The ids of the deliveries whose attempts have not ended. */
  readonly #open = new Set<string>();
  #ended: EndedAttempt[] = [];
  #errors: unknown[] = [];
  /** How many attempts have begun. */
  #begunCount = 0;
  #atOnce: number;
  #mayHaveChanges = true;
  /** Resolves when an attempt has ended or changes were noted, and is then replaced. */
  #signal = Promise.withResolvers<void>();

  constructor(sending: Pick<WebhookSending, 'send'>, atOnce = maxAtOnce) {
    this.#sending = sending;
    this.#atOnce = atOnce;
  }

  /** How many messages are sent at once: fewer while the receiver says that it is overloaded. */
  get atOnce(): number {
    return this.#atOnce;
  }

  get isFullPace(): boolean {
    return this.#atOnce === maxAtOnce;
  }

  /** Whether an attempt has not ended. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The deliveries whose attempts have not ended, or whose outcomes have not been taken. */
  get deliveries(): readonly string[] {
    return [...this.#open, ...this.#ended.map(({ delivery }) => delivery.id)];
  }

  /** Notes that the log may have changes for the webhook, and ends its `waitForWork` soon. */
  noteChanges(): void {
    this.#mayHaveChanges = true;
    this.#notify();
  }

  /** Whether changes were noted since the last call. */
  takeChanges(): boolean {
    const wereNoted = this.#mayHaveChanges;
    this.#mayHaveChanges = false;
    return wereNoted;
  }

  /**
   * Sends messages, several at a time. After a failure, when the time is up or when the webhook was changed, it begins no more; a
   * later round sends the rest. It does not wait for attempts that take long.
   */
  async send(
    webhook: WebhookRow,
    due: readonly DueDelivery[],
    isUnchanged: () => Promise<boolean>,
  ): Promise<void> {
    const untilMs = performance.now() + startsWithinMs;
    const waiting = [...due];
    const begun: string[] = [];
    // A receiver that fails gets only a few messages in a round.
    const hasFailure = () => this.#ended.some(({ answer }) => !isReceived(answer));
    while (waiting.length > 0 && !hasFailure() && performance.now() < untilMs && (await isUnchanged())) {
      const delivery = this.#open.size < this.#atOnce ? waiting.shift() : undefined;
      if (delivery) {
        this.#begin(webhook, delivery);
        begun.push(delivery.id);
      } else await this.#signal.promise;
    }
    await this.#waitUntil(() => !begun.some((id) => this.#open.has(id)), lingerMs);
  }

  /** Waits until an attempt ends, changes are noted, or it is time to look for retries. */
  async waitForWork(): Promise<void> {
    const hasEnded = () => this.#ended.length > 0 || this.#errors.length > 0;
    await this.#waitUntil(() => hasEnded() || this.#mayHaveChanges, retryPollMs);
    if (this.#mayHaveChanges) await this.#waitUntil(hasEnded, changeDelayMs);
  }

  /** Waits until all attempts have ended. */
  async end(): Promise<void> {
    while (this.hasOpen) await this.#signal.promise;
  }

  /** The attempts that have ended since the last call, in the order in which they began. Adapts how many are sent at once. */
  take(): EndedAttempt[] {
    const [error] = this.#errors.splice(0);
    if (error !== undefined) throw error;
    const ended = this.#ended.toSorted((a, b) => a.number - b.number);
    this.#ended = [];
    if (ended.some(({ answer }) => isOverloaded(answer)))
      this.#atOnce = Math.max(Math.floor(this.#atOnce / 2), 1);
    else if (ended.length > 0) this.#atOnce = Math.min(this.#atOnce + 1, maxAtOnce);
    return ended;
  }

  #begin(webhook: WebhookRow, delivery: DueDelivery): void {
    const { changeId, body } = delivery;
    const id = changeId ? encodeId('change', changeId) : encodeId('whdelivery', delivery.id);
    const attempt = { delivery, at: new Date(), revision: webhook.revision, number: this.#begunCount };
    this.#begunCount += 1;
    this.#open.add(delivery.id);
    void this.#sending
      .send(webhook, { id, body }, attemptMs)
      .then(
        (answer) => void this.#ended.push({ ...attempt, answer }),
        (error: unknown) => void this.#errors.push(error),
      )
      .finally(() => {
        this.#open.delete(delivery.id);
        this.#notify();
      });
  }

  #notify(): void {
    this.#signal.resolve();
    this.#signal = Promise.withResolvers();
  }

  /** Waits until ended attempts or noted changes make the condition true, at most for a time. */
  async #waitUntil(isTrue: () => boolean, ms: number): Promise<void> {
    const untilMs = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0 && !isTrue(); leftMs = untilMs - performance.now()) {
      const timer = setTimeout(() => this.#notify(), leftMs);
      await this.#signal.promise;
      clearTimeout(timer);
    }
  }
}
