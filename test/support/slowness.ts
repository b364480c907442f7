/** The processor time in milliseconds that the work below takes on a machine whose memory answers in 200 ns. */
const usualMs = 30;

/** How many times as long as usual this thread computes at the moment; 1 if it is as fast as usual, or faster. */
export function slowness(): number {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, n) => ({ key: `DES-${n}`, title: `é${n}`, list: [n] })),
  );
  // The fastest of three, as of the attempts of a request: garbage collections do not occur in all of them.
  const tookMs = Math.min(...Array.from({ length: 3 }, () => processorMs(() => parseAndFold(text))));
  return Math.max(1, tookMs / usualMs);
}

/** What requests do as well: it makes many objects of a text and looks them up, so the speed of memory counts. */
function parseAndFold(text: string): number {
  const objects = JSON.parse(text) as { key: string; title: string }[];
  const byKey = new Map(objects.map((object) => [object.key, object]));
  let length = 0;
  for (const { key } of objects) length += byKey.get(key)?.title.normalize('NFKD').length ?? 0;
  return length;
}

function processorMs(compute: () => unknown): number {
  const { user, system } = process.threadCpuUsage();
  compute();
  const after = process.threadCpuUsage();
  return (after.user - user + after.system - system) / 1_000;
}
