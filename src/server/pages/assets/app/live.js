import { errorOf, isRefusal, openStream } from './graph.js';

/** The server sends a comment every 15 seconds, so a connection that is silent for this long is considered lost. */
const maxSilenceMs = 25_000;

/**
 * Follows a subscription from a cursor, and resumes after the last event whenever the connection is lost. Browsers
 * allow six connections to a server over HTTP/1.1, so a hidden tab closes its stream, and resumes when it is shown.
 *
 * `onEvent` gets the data of each event. `onReset` is the last call, if the page has to read everything again: changes after
 * the cursor were removed from the log, or too much has changed at once. `onState` gets `connecting`, `live`, `paused`,
 * `offline` or, with an error, `refused`.
 */
export function followSubscription({ query, variables, after, onEvent, onReset, onState }) {
  let cursor = after;
  let failures = 0;
  const lifetime = new AbortController();
  let connection = new AbortController();
  let endPause = () => undefined;

  const onAvailability = () => {
    if (document.hidden || !navigator.onLine) connection.abort();
    else endPause();
  };
  const stop = () => {
    lifetime.abort();
    connection.abort();
    endPause();
  };
  const reset = () => {
    stop();
    onReset();
  };
  /** Waits until the tab is shown or the browser is online again, but at most for `ms`, if it is given. */
  const pause = (ms) =>
    new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const read = async () => {
    connection = new AbortController();
    onState(failures ? 'offline' : 'connecting');
    const response = await openStream(query, variables, { cursor, signal: connection.signal });
    for await (const event of eventsOf(response, connection)) {
      if (lifetime.signal.aborted) return;
      if (failures || event.isOpening) onState('live');
      failures = 0;
      if (event.id) cursor = event.id;
      const { data, errors, extensions } = event.data ?? {};
      if (errors) throw errorOf(errors[0]);
      if (extensions?.reset) return reset();
      if (data) onEvent(data);
    }
  };

  const run = async () => {
    while (!lifetime.signal.aborted) {
      if (document.hidden) {
        onState('paused');
        await pause();
        continue;
      }
      try {
        await read();
        failures = 0;
      } catch (error) {
        if (lifetime.signal.aborted) return;
        if (error.code === 'CURSOR_EXPIRED') return reset();
        if (isRefusal(error)) {
          onState('refused', error);
          return stop();
        }
        failures = document.hidden ? 0 : failures + 1;
      }
      if (lifetime.signal.aborted || document.hidden) continue;
      onState('offline');
      await pause(Math.min(15_000, 250 * 2 ** failures));
    }
  };

  document.addEventListener('visibilitychange', onAvailability, { signal: lifetime.signal });
  for (const name of ['online', 'offline'])
    addEventListener(name, onAvailability, { signal: lifetime.signal });
  void run();
  return stop;
}

/** The events of a stream. The first one only reports that the stream is open. */
async function* eventsOf(response, connection) {
  let timer = setTimeout(() => connection.abort(), maxSilenceMs);
  try {
    let text = '';
    yield { isOpening: true };
    for await (const chunk of chunksOf(response.body)) {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(), maxSilenceMs);
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop();
      for (const block of blocks) yield parseEvent(block);
    }
  } finally {
    clearTimeout(timer);
  }
}

function parseEvent(block) {
  // A text may contain U+2028 and U+2029, which `.` matches only with the flag `s`.
  const fields = block.split('\n').map((line) => /^(\w+): (.*)$/s.exec(line) ?? []);
  const valueOf = (name) => fields.find(([, field]) => field === name)?.[2];
  const data = valueOf('data');
  return { id: valueOf('id'), data: data && JSON.parse(data) };
}

/** The chunks of a stream as text. Not every browser can iterate over a stream itself. */
async function* chunksOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
