import { isRefusal, runQuery, tokenRefusals } from './graph.js';
import { followSubscription } from './live.js';
import { show } from './page.js';
import { liveness, problem } from './states.js';

/** Changes come in bursts. The page waits for this time after the first, and reads all of them at once. */
const refreshDelayMs = 700;

/** A page is drawn again at this interval, because it shows times relative to now. */
const redrawMs = 60_000;

const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Starts a page that reads one query, and reads it again when a subscription reports a change. A read that fails is retried
 * until there is an answer; meanwhile the page says that it is not up to date. A read that was refused is not retried,
 * because it would be refused again.
 *
 * - `variables()`: the current variables of the query;
 * - `view({ data, measurements, variables, liveness })`: the page, where `liveness` shows whether it is kept up to date;
 * - `subscriptionOf(data, variables)`: the `query` and `variables` of the subscription; undefined when there is nothing to
 * follow;
 * - `onAnswer({ data, measurements, variables })`: called before a new answer is drawn;
 * - `onEvent(data)`: applies an event to the page. Without it, the query is read again;
 * - `liveContent`: the name of what the subscription keeps up to date, if it is not the whole page;
 * - `remedy()`: a button that may help instead of another attempt;
 * - `explain(error)`: the `title` and `body` for an error that this page can explain better; undefined for others.
 *
 * The query must select `workspace { changeCursor }`, after which the subscription begins. Returns `restart`, which reads
 * again after a choice of the user, and `draw`.
 */
export function startLivePage({
  query,
  variables,
  view,
  subscriptionOf,
  onAnswer,
  onEvent,
  liveContent,
  remedy,
  explain,
}) {
  /** The answer that the page shows; undefined while it shows none or a problem. */
  let shown;
  let failure;
  let state = 'connecting';
  let followedSubscription;
  let stop = () => undefined;
  let request = new AbortController();
  let lastRead;
  let pendingRefresh;
  let endPause = () => undefined;

  const draw = () => {
    if (shown)
      show(view({ ...shown, liveness: liveness(failure ? 'failed' : state, { failure, liveContent }) }));
  };

  const showProblem = (error) => show(problem(error, restart, remedy?.(), explain?.(error)));

  const showRefusal = (error) => {
    cancelRead();
    stop();
    shown = undefined;
    showProblem(error);
  };

  const cancelRead = () => {
    request.abort();
    endPause();
  };

  /**
   * Waits for a time, or until `endPause` is called: when the server answers again, or when the read is canceled. A hidden tab
   * also waits until it is shown: nobody would see what it reads, and the reads would use up the quota of the token.
   */
  const pause = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (document.hidden) document.addEventListener('visibilitychange', resolve, { once: true });
        else resolve();
      }, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Returns whether there is an answer: false if the read was refused, or if a later read has replaced it. */
  const read = () => {
    cancelRead();
    request = new AbortController();
    lastRead = readWithRetries(request.signal);
    return lastRead;
  };

  const readWithRetries = async (signal) => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const usedVariables = variables();
      const answer = await runQuery(query, usedVariables, signal).catch((error) => ({ error }));
      if (signal.aborted) break;
      const { data, measurements, error } = answer;
      failure = error;
      if (!error) {
        shown = { data, measurements, variables: usedVariables };
        onAnswer?.(shown);
        return true;
      }
      if (isRefusal(error)) {
        showRefusal(error);
        break;
      }
      if (shown) draw();
      else showProblem(error);
      await pause(Math.max(Number(error.retryAfter ?? 0) * 1_000, Math.min(15_000, 500 * 2 ** failures)));
    }
    return false;
  };

  const restart = async () => {
    stop();
    followedSubscription = undefined;
    state = 'connecting';
    failure = undefined;
    draw();
    await refresh();
  };

  const refresh = async () => {
    if (!(await read())) return;
    const subscription = subscriptionOf(shown.data, shown.variables);
    const text = JSON.stringify(subscription);
    if (text !== followedSubscription) {
      stop();
      followedSubscription = text;
      stop = subscription ? followFrom(subscription, shown.data.workspace.changeCursor) : () => undefined;
    }
    draw();
  };

  const refreshSoon = () => {
    // This waits for a read that is in progress: otherwise changes in quick succession would each cancel the read of the
    // previous change.
    pendingRefresh ??= Promise.all([delay(refreshDelayMs), lastRead]).then(async () => {
      pendingRefresh = undefined;
      if (shown) await refresh();
    });
  };

  const followFrom = (subscription, after) =>
    followSubscription({
      ...subscription,
      after,
      onEvent: (data) => {
        if (!onEvent) return refreshSoon();
        onEvent(data);
        draw();
      },
      onReset: restart,
      onState: (newState, error) => {
        if (error && tokenRefusals.has(error.code)) return showRefusal(error);
        state = newState;
        if (state === 'live') endPause();
        draw();
      },
    });

  setInterval(draw, redrawMs);
  void restart();
  return { restart, draw };
}
