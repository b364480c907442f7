/** The processor time in milliseconds that the work below takes on a machine whose memory answers in 200 ns. */
const usualMs = 30;

/** By which factor this thread computes more slowly than usual at the moment; 1 if it is as fast as usual, or faster. */
export function slowness(): number {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, n) => ({ key: `DES-${n}`, title: `é${n}`, list: [n] })),
  );
  // The fastest of three attempts, because garbage collections do not occur in all of them.
  const tookMs = Math.min(...Array.from({ length: 3 }, () => processorMs(() => parseAndFold(text))));
  return Math.max(1, tookMs / usualMs);
}

/** Work that is typical of requests: it parses a text to many objects and looks them up, so the speed of memory matters. */
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
