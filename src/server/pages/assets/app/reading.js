import { ask, isRefusal, tokenRefusals } from './graph.js';
import { follow } from './live.js';
import { show } from './page.js';
import { liveness, problem } from './states.js';

/** Changes come in bursts, so one read after this time covers all of them. */
const gatherMs = 700;

/** A page without changes is drawn again after this time, because it shows times relative to now. */
const agingMs = 60_000;

const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A page that reads one query, and reads it again when a subscription reports a change. A read that fails is retried
 * until there is an answer, and the page meanwhile says that it is not up to date. A read that was refused is not
 * retried: it would be refused again.
 *
 * - `variables()`: the current variables of the query;
 * - `view(reading)`: the page for `{ data, figures, variables, sign }`, where `sign` shows whether it is kept up to
 * date;
 * - `live(data, variables)`: the `query` and `variables` of the subscription; undefined when there is nothing to
 * follow;
 * - `onReading(reading)`: called before a new answer is drawn;
 * - `onEvent(data)`: shows an event. Without it, the query is read again;
 * - `follows`: what the subscription reports, if that is not all that the page shows;
 * - `remedy()`: what else than another try may help;
 * - `explain(error)`: the `title` and `body` of a page for an error that this page understands better.
 *
 * The query must select `workspace { changeCursor }`, after which the subscription begins. Returns `begin`, which reads
 * again after a choice of the user, and `draw`.
 */
export function keepReading({ query, variables, view, live, onReading, onEvent, follows, remedy, explain }) {
  /** What is drawn; undefined if the page shows a problem instead. */
  let reading;
  let failure;
  let state = 'connecting';
  let followed;
  let stop = () => undefined;
  let request = new AbortController();
  let settled;
  let gathering;
  let wake = () => undefined;

  const draw = () => {
    if (reading) show(view({ ...reading, sign: liveness(failure ? 'failed' : state, { failure, follows }) }));
  };

  const showProblem = (error) => show(problem(error, begin, remedy?.(), explain?.(error)));

  const end = (error) => {
    giveUp();
    stop();
    reading = undefined;
    showProblem(error);
  };

  const giveUp = () => {
    request.abort();
    wake();
  };

  /**
   * Waits for a time, or until the server answers again or the answer is no longer wanted. A hidden tab also waits
   * until it is shown: the user would not see what it reads, and it would use up the quota of the token.
   */
  const pause = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (document.hidden) document.addEventListener('visibilitychange', resolve, { once: true });
        else resolve();
      }, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Returns whether there is an answer: not if it was refused, or if a later read has begun meanwhile. */
  const read = () => {
    giveUp();
    request = new AbortController();
    settled = readUntil(request.signal);
    return settled;
  };

  const readUntil = async (signal) => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const asked = variables();
      const answer = await ask(query, asked, signal).catch((error) => ({ error }));
      if (signal.aborted) break;
      const { data, figures, error } = answer;
      failure = error;
      if (!error) {
        reading = { data, figures, variables: asked };
        onReading?.(reading);
        return true;
      }
      if (isRefusal(error)) {
        end(error);
        break;
      }
      if (reading) draw();
      else showProblem(error);
      await pause(Math.max(Number(error.retryAfter ?? 0) * 1_000, Math.min(15_000, 500 * 2 ** failures)));
    }
    return false;
  };

  const begin = async () => {
    stop();
    followed = undefined;
    state = 'connecting';
    failure = undefined;
    draw();
    await refresh();
  };

  const refresh = async () => {
    if (!(await read())) return;
    const subscription = live(reading.data, reading.variables);
    const text = JSON.stringify(subscription);
    if (text !== followed) {
      stop();
      followed = text;
      stop = subscription ? followFrom(subscription, reading.data.workspace.changeCursor) : () => undefined;
    }
    draw();
  };

  const refreshSoon = () => {
    // A read that began before the change is awaited: otherwise changes in quick succession would each abandon the read
    // of the previous one.
    gathering ??= Promise.all([delay(gatherMs), settled]).then(async () => {
      gathering = undefined;
      if (reading) await refresh();
    });
  };

  const followFrom = (subscription, after) =>
    follow({
      ...subscription,
      after,
      onEvent: (data) => {
        if (!onEvent) return refreshSoon();
        onEvent(data);
        draw();
      },
      onReset: begin,
      onState: (now, error) => {
        if (error && tokenRefusals.has(error.code)) return end(error);
        state = now;
        if (state === 'live') wake();
        draw();
      },
    });

  setInterval(draw, agingMs);
  void begin();
  return { begin, draw };
}
