import { ask } from './graph.js';
import { follow } from './live.js';
import { show } from './page.js';
import { problem } from './states.js';

/** Changes come in bursts, and one reading shows them all. */
const gatherMs = 700;

/**
 * A page that reads one query, and reads it again when a subscription tells of a change.
 *
 * - `variables()`: those of the query, as they are now;
 * - `view(reading)`: the page for `{ data, figures, variables, state }`, where `state` is that of the subscription;
 * - `live(data)`: the `query` and `variables` of the subscription; undefined when there is nothing to follow.
 *
 * The query selects `workspace { changeCursor }`, which is where the subscription begins. Returns a function that reads again.
 */
export async function keepReading({ query, variables, view, live }) {
  let reading;
  let state = 'connecting';
  let stop = () => undefined;
  let timer;

  const draw = () => show(view({ ...reading, state }));

  const read = async () => {
    const asked = variables();
    try {
      const { data, figures } = await ask(query, asked);
      // Something else may have been chosen in the meantime.
      if (JSON.stringify(asked) !== JSON.stringify(variables())) return false;
      reading = { data, figures, variables: asked };
      draw();
      return true;
    } catch (error) {
      // What has been read stays, with the state of the connection: the next event reads again.
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
