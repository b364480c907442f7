const smallest = 4_096;
const largest = 1_048_576;
/** What is kept for the next one, in bytes over all sizes. */
const maxKept = 16_777_216;

const free = new Map<number, Buffer[]>();
let kept = 0;

/**
 * A buffer of at least this length, used before if there is one. What the garbage collector gets outside of its heap
 * makes it collect all of that heap: a server that made a new buffer for each answer would do little else.
 */
export function takeSlab(bytes: number): Buffer {
  const size = Math.max(smallest, 2 ** Math.ceil(Math.log2(bytes)));
  if (size > largest) return Buffer.allocUnsafeSlow(bytes);
  const known = free.get(size)?.pop();
  if (!known) return Buffer.allocUnsafeSlow(size);
  kept -= size;
  return known;
}

/** Nothing reads the buffer any more. One that nobody gives back is garbage like everything else. */
export function giveSlab(slab: Buffer): void {
  const { length } = slab;
  if (length > largest || length < smallest || kept + length > maxKept) return;
  const known = free.get(length);
  if (known) known.push(slab);
  else free.set(length, [slab]);
  kept += length;
}
