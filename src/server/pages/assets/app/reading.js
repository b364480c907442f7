import { ask } from './graph.js';
import { follow } from './live.js';
import { show } from './page.js';
import { problem } from './states.js';

/** Changes come in bursts, so one read after this time covers all of them. */
const gatherMs = 700;

/** The codes of errors that a later reading would meet again. */
const final = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NO_TOKEN']);

const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A page that reads one query, and reads it again when a subscription reports a change.
 *
 * - `variables()`: the current variables of the query;
 * - `view(reading)`: the page for `{ data, figures, variables, state }`, where `state` is that of the subscription;
 * - `live(data)`: the `query` and `variables` of the subscription; undefined when there is nothing to follow.
 *
 * The query must select `workspace { changeCursor }`, after which the subscription begins. Returns a function that reads again.
 */
export async function keepReading({ query, variables, view, live }) {
  let reading;
  let state = 'connecting';
  let stop = () => undefined;
  let timer;

  const draw = () => show(view({ ...reading, state }));

  /** Returns `read`, `superseded` by another choice of the user, `failed`, or `ended` if the page shows a problem instead. */
  const read = async () => {
    const readVariables = variables();
    try {
      const { data, figures } = await ask(query, readVariables);
      if (JSON.stringify(readVariables) !== JSON.stringify(variables())) return 'superseded';
      reading = { data, figures, variables: readVariables };
      draw();
      return 'read';
    } catch (error) {
      // The page keeps what it has read before, with the state of the connection; the next event reads again.
      if (reading && !final.has(error.code)) return 'failed';
      show(problem(error, begin));
      return 'ended';
    }
  };

  let begun = 0;
  const begin = async () => {
    begun += 1;
    const own = begun;
    stop();
    let outcome = await read();
    // Nothing is followed yet, so no event would read again.
    for (let failures = 0; outcome === 'failed' || outcome === 'superseded'; outcome = await read()) {
      if (outcome === 'superseded') continue;
      state = 'offline';
      draw();
      await delay(Math.min(15_000, 500 * 2 ** failures));
      failures += 1;
      if (own !== begun) return;
    }
    if (outcome === 'ended' || own !== begun) return;
    const subscription = live(reading.data);
    if (!subscription) return;
    stop = follow({
      ...subscription,
      after: reading.data.workspace.changeCursor,
      onEvent: () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          void read();
        }, gatherMs);
      },
      onReset: begin,
      onState: (now) => {
        state = now;
        draw();
      },
    });
  };

  await begin();
  return read;
}
