import { ask } from './graph.js';
import { follow } from './live.js';
import { show } from './page.js';
import { problem } from './states.js';

/** Changes come in bursts, so one read after this time covers all of them. */
const gatherMs = 700;

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

  const read = async () => {
    const readVariables = variables();
    try {
      const { data, figures } = await ask(query, readVariables);
      // The user may have chosen something else in the meantime.
      if (JSON.stringify(readVariables) !== JSON.stringify(variables())) return false;
      reading = { data, figures, variables: readVariables };
      draw();
      return true;
    } catch (error) {
      // The page keeps what it has read before, with the state of the connection; the next event reads again.
      if (!reading || error.code === 'UNAUTHENTICATED') show(problem(error, begin));
      return false;
    }
  };

  const begin = async () => {
    stop();
    if (!(await read())) return;
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
