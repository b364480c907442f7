import { describe, expect, it } from '@jest/globals';
import { lsnBytes, positionOf, unknownPosition } from '../../src/db/engine/wal-position.ts';
import { parseConsistency, printConsistency } from '../../src/server/http/consistency-header.ts';
import { RecentWrites } from '../../src/server/recent-writes.ts';

describe('the consistency header', () => {
  const version = { ref: 12, tag: 8423 };

  it.each([
    [undefined, '12.8423'],
    [{ timeline: 1, bytes: 0x16_b374_d848 }, '12.8423;1.16B374D848'],
    [unknownPosition, '12.8423;0.0'],
  ])('is parsed to what was printed, with the position %j', (position, text) => {
    expect(printConsistency(version, position)).toBe(text);
    expect(parseConsistency(text)).toEqual({ version, position });
  });

  it.each([
    [undefined, { version: undefined, position: undefined }],
    ['', { version: undefined, position: undefined }],
    ['12.8423;', { version, position: unknownPosition }],
    ['12.8423;1', { version, position: unknownPosition }],
    ['12.8423;1.16b3', { version, position: unknownPosition }],
    ['x;1.16B3', { version: undefined, position: { timeline: 1, bytes: 0x16b3 } }],
    ['12.8423;1.1;1.2', { version: undefined, position: unknownPosition }],
    ['12.8423, 12.8423', { version: undefined, position: undefined }],
  ])('is parsed from %j as far as that is valid', (text, read) => {
    expect(parseConsistency(text)).toEqual(read);
  });
});

describe('a WAL position', () => {
  it('has the timeline that its file is named after, and the number of bytes before it', () => {
    const position = positionOf({ file: '0000000A0000001600000003', lsn: '16/B374D848' });
    expect(position).toEqual({ timeline: 10, bytes: 0x16_b374_d848 });
    expect(lsnBytes('0/0')).toBe(0);
  });
});

describe('a token that has written', () => {
  it('is known to a process that another one has told, which does not pass it on', () => {
    const [here, there] = [new RecentWrites(), new RecentWrites()];
    here.onNote((tokenId) => there.noteElsewhere(tokenId));
    there.onNote(() => {
      throw new Error('It was told again.');
    });
    here.note('a');
    expect([here.has('a'), there.has('a'), there.has('b')]).toEqual([true, true, false]);
  });
});
