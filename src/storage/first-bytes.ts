/**
 * The first bytes of an answer: at least `count` if it has so many. The rest of a longer answer is not read, and its connection is
 * closed.
 */
export async function readFirstBytes(answer: AsyncIterable<Buffer>, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= count) break;
  }
  return Buffer.concat(chunks);
}
