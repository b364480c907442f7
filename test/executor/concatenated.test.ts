import { describe, expect, it } from '@jest/globals';
import { type TextRow, WireRow } from '../../src/db/wire/wire-row.ts';
import { Columns } from '../../src/executor/compiled/compile/columns.ts';
import { Bail, type Frame, type Link } from '../../src/executor/compiled/run/frame.ts';
import { compileConcatenated } from '../../src/executor/compiled/fields/concatenated.ts';
import { JsonWriter } from '../../src/executor/compiled/writing/json-writer.ts';
import { ObjectPlan } from '../../src/executor/compiled/compile/objects.ts';
import { ValueSink } from '../../src/executor/compiled/writing/value-sink.ts';
import type { FieldContext } from '../../src/executor/compiled/compile/compile-context.ts';

/** A field like the key of an issue, which consists of the code of its team and its number. */
function keyField(): { field: ReturnType<typeof compileConcatenated>; number: number; code: number } {
  const plan = new ObjectPlan('Issue', new Columns('fetched'));
  const field = compileConcatenated(
    { context: { plan, shared: new Map() }, key: 'key' } as unknown as FieldContext,
    {
      kind: 'concatenated',
      pieces: [{ of: 'team', column: 'code' }, '-', { column: 'number' }],
      references: {
        team: { key: 'teamId', table: 'team', by: 'id', where: { all: [] }, columns: ['code'], nested: {} },
      },
    },
  );
  return { field, number: plan.columns.include('number'), code: new Columns({ of: 'team' }).include('code') };
}

/** A row in the wire format of PostgreSQL, with other bytes around it. */
function wireRow(cells: readonly (string | null)[]): WireRow {
  const count = Buffer.alloc(2);
  count.writeInt16BE(cells.length);
  const parts = cells.map((cell) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(cell === null ? -1 : Buffer.byteLength(cell));
    return Buffer.concat([length, Buffer.from(cell ?? '')]);
  });
  return new WireRow(Buffer.concat([Buffer.from('another'), count, ...parts, Buffer.from('another')]), 7);
}

const asSent = ['as PostgreSQL sends it', wireRow] as const;
const asTexts = ['as texts', (cells: readonly (string | null)[]): TextRow => cells] as const;

describe.each([asSent, asTexts])('a concatenated string from a row %s', (_how, rowOf) => {
  const { field, number, code } = keyField();
  const framed = (own: string | null, team: string | null) => {
    const cells = ['the id of the team', ''].map((cell, index) => (index === number ? own : cell));
    const teamCells = Array.from({ length: code + 1 }, (_, index) => (index === code ? team : null));
    const link: Partial<Link> = {
      frame: { rows: [rowOf(teamCells)] } as unknown as Frame,
      rowIndexes: Int32Array.of(team === 'nowhere' ? -1 : 0),
    };
    return { rows: [rowOf(cells)], fetched: [link] } as unknown as Frame;
  };
  const written = (frame: Frame) => {
    const out = new JsonWriter();
    field.write(out, frame, 0);
    return out.finish().bytes.toString();
  };
  const value = (frame: Frame) => {
    const out = new ValueSink();
    field.write(out, frame, 0);
    return out.finish();
  };

  it('contains all its pieces, as JSON and as a value', () => {
    const whole = framed('7', 'ENG');
    expect(written(whole)).toBe('"ENG-7"');
    expect(value(whole)).toBe('ENG-7');
  });

  it.each([
    ['its own column is null', framed(null, 'ENG')],
    ['the column of the referred row is null', framed('7', null)],
    ['the referred row is missing', framed('7', 'nowhere')],
  ])('is left to graphql-js where %s, and shows no other bytes', (_what, frame) => {
    expect(() => written(frame)).toThrow(Bail);
    expect(() => value(frame)).toThrow(Bail);
  });
});
