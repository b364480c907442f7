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
 * The messages that run a prepared statement, in one buffer: Bind, Describe if the columns are unknown, Execute and Sync. pg
 * writes each message separately, which takes more time than a small query itself.
 */
export function runMessages(
  name: string,
  values: readonly unknown[],
  { describes, formats: wanted = [] }: { describes: boolean; formats: CellFormats | undefined },
): Buffer {
  const given: (string | Buffer | null)[] = [];
  const lengths: number[] = [];
  let length = 0;
  let formats = 0;
  for (const value of values) {
    const prepared = prepareValue(value) as string | Buffer | null;
    const bytes = prepared === null ? 0 : Buffer.byteLength(prepared);
    given.push(prepared);
    lengths.push(bytes);
    length += bytes;
    // Buffers are sent in binary format. Without any, the list of formats is empty, which means that all values are text.
    if (prepared instanceof Buffer) formats = values.length;
  }
  const bindLength =
    4 +
    1 +
    Buffer.byteLength(name) +
    1 +
    2 +
    formats * 2 +
    2 +
    4 * given.length +
    length +
    2 +
    2 * wanted.length;
  const behind = describes ? describedEnd : end;
  const bytes = Buffer.allocUnsafe(1 + bindLength + behind.length);
  let at = bytes.writeUInt8(bindCode);
  at = bytes.writeInt32BE(bindLength, at);
  at = bytes.writeUInt8(0, at);
  at += bytes.write(name, at);
  at = bytes.writeUInt8(0, at);
  at = bytes.writeUInt16BE(formats, at);
  for (let place = 0; place < formats; place += 1)
    at = bytes.writeUInt16BE(given[place] instanceof Buffer ? 1 : 0, at);
  at = bytes.writeUInt16BE(given.length, at);
  for (let place = 0; place < given.length; place += 1) {
    const value = given[place] as string | Buffer | null;
    at = bytes.writeInt32BE(value === null ? isNull : (lengths[place] as number), at);
    if (typeof value === 'string') at += bytes.write(value, at);
    else if (value !== null) at += value.copy(bytes, at);
  }
  // An empty list of result formats means that all columns are sent as text.
  at = bytes.writeUInt16BE(wanted.length, at);
  for (const format of wanted) at = bytes.writeUInt16BE(format === asText ? 0 : 1, at);
  behind.copy(bytes, at);
  return bytes;
}
