import { prepareValue } from 'pg/lib/utils.js';
import { asText, type CellFormats } from './cell-formats.ts';

const describePortal = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0]);
/** Of the unnamed portal, all rows. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);

const bindCode = 0x42;
const isNull = -1;

/**
 * What makes a server run a statement that it knows: Bind, Describe where the columns are not known yet, Execute and
 * Sync, in one piece. pg writes each by itself, which costs more than a small query does.
 */
export function runMessages(
  name: string,
  values: readonly unknown[],
  { describes, formats: wanted = [] }: { describes: boolean; formats: CellFormats | undefined },
): Buffer {
  const given = values.map((value) => prepareValue(value) as string | Buffer | null);
  // Bytes go as bytes; the formats are said only where there are any.
  const formats = given.some((value) => value instanceof Buffer) ? given.length : 0;
  const lengths = given.map((value) => (value === null ? 0 : Buffer.byteLength(value)));
  const nameLength = Buffer.byteLength(name);
  const bindLength =
    4 + 1 + nameLength + 1 + 2 + formats * 2 + 2 + 4 * given.length + sum(lengths) + 2 + 2 * wanted.length;
  const behind = describes ? [describePortal, execute, sync] : [execute, sync];
  const bytes = Buffer.allocUnsafe(1 + bindLength + sum(behind.map(({ length }) => length)));
  let at = bytes.writeUInt8(bindCode);
  at = bytes.writeInt32BE(bindLength, at);
  at = bytes.writeUInt8(0, at);
  at += bytes.write(name, at);
  at = bytes.writeUInt8(0, at);
  at = bytes.writeUInt16BE(formats, at);
  for (let place = 0; place < formats; place += 1)
    at = bytes.writeUInt16BE(given[place] instanceof Buffer ? 1 : 0, at);
  at = bytes.writeUInt16BE(given.length, at);
  for (const [place, value] of given.entries()) {
    at = bytes.writeInt32BE(value === null ? isNull : (lengths[place] as number), at);
    if (typeof value === 'string') at += bytes.write(value, at);
    else if (value !== null) at += value.copy(bytes, at);
  }
  // None said: all columns as texts.
  at = bytes.writeUInt16BE(wanted.length, at);
  for (const format of wanted) at = bytes.writeUInt16BE(format === asText ? 0 : 1, at);
  for (const message of behind) at += message.copy(bytes, at);
  return bytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
