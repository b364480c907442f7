import { prepareValue } from 'pg/lib/utils.js';
import { asText, type CellFormats } from './cell-formats.ts';

const describePortal = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0]);
/** Executes the unnamed portal without a limit of rows. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const end = Buffer.concat([execute, sync]);
const describedEnd = Buffer.concat([describePortal, end]);

const bindCode = 0x42;
const isNull = -1;

/**
 * The messages that run a prepared statement, in one buffer: Bind, Describe if the columns are unknown, Execute and
 * Sync. pg writes each message separately, which takes more time than a small query itself.
 */
export function runMessages(
  name: string,
  values: readonly unknown[],
  { describes, formats: resultFormats = [] }: { describes: boolean; formats: CellFormats | undefined },
): Buffer {
  const prepared: (string | Buffer | null)[] = [];
  const lengths: number[] = [];
  let length = 0;
  let formatCount = 0;
  for (const value of values) {
    const bound = prepareValue(value) as string | Buffer | null;
    const bytes = bound === null ? 0 : Buffer.byteLength(bound);
    prepared.push(bound);
    lengths.push(bytes);
    length += bytes;
    // Buffers are sent in binary format. Without any, the list of formats is empty, which means that all values are
    // text.
    if (bound instanceof Buffer) formatCount = values.length;
  }
  const bindLength =
    4 +
    1 +
    Buffer.byteLength(name) +
    1 +
    2 +
    formatCount * 2 +
    2 +
    4 * prepared.length +
    length +
    2 +
    2 * resultFormats.length;
  const tail = describes ? describedEnd : end;
  const bytes = Buffer.allocUnsafe(1 + bindLength + tail.length);
  let at = bytes.writeUInt8(bindCode);
  at = bytes.writeInt32BE(bindLength, at);
  at = bytes.writeUInt8(0, at);
  at += bytes.write(name, at);
  at = bytes.writeUInt8(0, at);
  at = bytes.writeUInt16BE(formatCount, at);
  for (let index = 0; index < formatCount; index += 1)
    at = bytes.writeUInt16BE(prepared[index] instanceof Buffer ? 1 : 0, at);
  at = bytes.writeUInt16BE(prepared.length, at);
  for (let index = 0; index < prepared.length; index += 1) {
    const value = prepared[index] as string | Buffer | null;
    at = bytes.writeInt32BE(value === null ? isNull : (lengths[index] as number), at);
    if (typeof value === 'string') at += bytes.write(value, at);
    else if (value !== null) at += value.copy(bytes, at);
  }
  // An empty list of result formats means that all columns are sent as text.
  at = bytes.writeUInt16BE(resultFormats.length, at);
  for (const format of resultFormats) at = bytes.writeUInt16BE(format === asText ? 0 : 1, at);
  tail.copy(bytes, at);
  return bytes;
}
