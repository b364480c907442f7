import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { Prepared } from '../../src/db/statements/prepared.ts';
import { Slot } from '../../src/db/statements/slots.ts';
import { UuidArray, uuidBytes, uuidTexts } from '../../src/db/wire/uuid-bytes.ts';
import { textAt, textsOf } from '../../src/db/wire/wire-row.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { hasServer, newServerDatabase } from './engines.ts';
import type { TemporaryDatabase } from './engines.ts';

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('rows as PostgreSQL sends them', () => {
  let temporary: TemporaryDatabase<{ url: string }>;
  let database: Database;
  let repeated: Prepared;

  beforeAll(async () => {
    temporary = await newServerDatabase();
    database = await openDatabase({ ...temporary.location, poolSize: 8 });
    repeated = new Prepared(
      sql`select n, repeat(${new Slot('text')}::text, n % 7), null::text, n % 2 = 0
        from generate_series(1, ${new Slot('count')}::int) n`.compile(database.unscoped),
    );
  });
  afterAll(async () => {
    await database.close();
    await temporary.remove();
  });

  const expected = (text: string, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const n = index + 1;
      return [String(n), text.repeat(n % 7), null, n % 2 === 0 ? 't' : 'f'];
    });

  const read = async (text: string, count: number) => {
    const connection = await database.connect();
    try {
      return await connection.rows(repeated, { text, count });
    } finally {
      connection.release();
    }
  };

  // A socket delivers messages in chunks. The sizes put chunk boundaries at all positions in a message.
  it.each([
    ['none', 'x', 0],
    ['many short ones', 'é', 20_000],
    ['some of about a piece', 'ab€'.repeat(3_001), 40],
    ['some longer than many pieces', '0123456789'.repeat(70_001), 9],
  ])('%s', async (_what, text, count) => {
    const { rows } = await read(text, count);
    expect(rows.map(textsOf)).toEqual(expected(text, count));
  });

  it('return their cells in any order', async () => {
    const { rows } = await read('a', 3);
    const [, second] = rows;
    if (!second) throw new Error('A row is missing.');
    expect([3, 0, 2, 1, 1, 3].map((at) => textAt(second, at))).toEqual(['t', '2', null, 'aa', 'aa', 't']);
  });

  it('have the same UUIDs and times in text and in binary format', async () => {
    const times = [
      '2026-01-31 12:00:00+00',
      '2026-01-31 12:00:00.5+00',
      '1999-12-31 23:59:59.999+00',
      '2000-02-29 00:00:00.000001+00',
      '1900-03-01 00:00:00+00',
      '1600-01-01 00:00:00+00',
      '0001-01-01 00:00:00+00',
      '0044-03-15 12:00:00+00 BC',
      '9999-12-31 23:59:59.999999+00',
      '294276-12-31 23:59:59.999999+00',
      'infinity',
      '-infinity',
    ];
    const statement = new Prepared(
      sql`select n, uuid, time, uuid, null::uuid, null::timestamptz, array[uuid, uuid], array[]::uuid[], null::uuid[] from unnest(
          ${new Slot('times')}::timestamptz[], ${new Slot('uuids')}::uuid[]) with ordinality row(time, uuid, n)`.compile(
        database.unscoped,
      ),
    );
    const uuids = times.map(() => newUuid());
    const connection = await database.connect();
    // Texts are in the time zone of the session.
    await connection.query("set timezone = 'UTC'", []);
    for (let run = 0; run < 3; run += 1) {
      const { rows } = await connection.texts(statement, { times, uuids });
      expect(rows).toEqual(
        times.map((time, index) => {
          const uuid = uuids[index];
          return [String(index + 1), uuid, time, uuid, null, null, `{${uuid},${uuid}}`, '{}', null];
        }),
      );
    }
    connection.release();
  });

  it('match UUIDs that are sent in a binary array', async () => {
    const statement = new Prepared(
      sql`select array_agg(uuid order by n) from unnest(${new Slot('uuids')}::uuid[]) with ordinality row(uuid, n)`.compile(
        database.unscoped,
      ),
    );
    const array = new UuidArray();
    const connection = await database.connect();
    for (const count of [0, 1, 500, 2]) {
      const uuids = Array.from({ length: count }, () => newUuid());
      array.begin(count);
      for (const uuid of uuids) array.add(uuidBytes(uuid), 0);
      const sent = array.toBuffer();
      expect(uuidTexts(sent, 0)).toEqual(uuids);
      const { rows } = await connection.texts(statement, { uuids: sent });
      expect(rows).toEqual([[count === 0 ? null : `{${uuids.join(',')}}`]]);
    }
    connection.release();
  });

  it('are not overwritten by later rows before they are released', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(1 + (index % 5) * 900));
    const found = await Promise.all(texts.map((text) => read(text, 30)));
    for (const [index, { rows, release }] of found.entries()) {
      expect(rows.map(textsOf)).toEqual(expected(texts[index] ?? '', 30));
      release?.();
    }
    const again = await Promise.all(texts.map((text) => read(text, 30)));
    for (const [index, { rows }] of again.entries())
      expect(rows.map(textsOf)).toEqual(expected(texts[index] ?? '', 30));
  });

  it('are returned for parameters of every kind', async () => {
    const parameters = new Prepared(
      sql`select ${new Slot('nothing')}::text is null, ${new Slot('text')}::text, ${new Slot('list')}::int[],
        encode(${new Slot('bytes')}::bytea, 'hex'), ${new Slot('flag')}::boolean, ${new Slot('time')}::timestamptz = '2026-01-31T12:00:00Z'`.compile(
        database.unscoped,
      ),
    );
    const values = {
      nothing: null,
      text: 'naïve 😀 \'"\\',
      list: [1, 2],
      bytes: Buffer.from([0, 255]),
      flag: true,
      time: new Date('2026-01-31T12:00:00Z'),
    };
    const connection = await database.connect();
    // Repeated, because the first run is unnamed and later ones know the columns.
    for (let run = 0; run < 3; run += 1) {
      const { rows } = await connection.texts(parameters, values);
      expect(rows).toEqual([['t', values.text, '{1,2}', '00ff', 't', 't']]);
    }
    connection.release();
  });
});
