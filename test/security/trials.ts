import { encodeId, type IdPrefix, parseId } from '../../src/resolvers/ids.ts';
import type { Naming } from '../../src/schema/builder/naming.ts';
import { type Candidate, kinds } from './candidates.ts';
import { nowhereLetter, type TwinWorlds } from './twin-worlds.ts';

/** A value to try, and its twin of the same form that names nothing anywhere: both must be answered alike. */
export interface Trial {
  what: string;
  value: string;
  twin: string;
}

/** What to try where a value names something: what is the caller's own but of another kind or gone, and all that is not his. */
export function trialsOf(naming: Naming, { own, foreign }: TwinWorlds): Trial[] {
  const wanted = naming.of ? [naming.of] : kinds;
  return wanted.flatMap((kind) => [
    ...formsOf(naming, foreign.living(kind)[0], 'foreign', nowhere),
    ...formsOf(naming, foreign.deleted(kind)[0], 'foreign and deleted', nowhere),
    ...formsOf(naming, own.deleted(kind)[0], 'own and deleted', beside),
    ...(naming.of
      ? [
          ...formsOf(naming, foreign.living(otherThan(kind))[0], 'foreign of another kind', nowhere),
          ...formsOf(naming, own.living(otherThan(kind))[0], 'own of another kind', beside),
        ]
      : []),
  ]);
}

/** The values by which the caller's own things of the kind are named. */
export function ownValues(naming: Naming, { own }: Pick<TwinWorlds, 'own'>): string[] {
  const found = (naming.of ? [naming.of] : kinds).flatMap((kind) => [
    ...own.living(kind),
    ...own.deleted(kind),
  ]);
  return found.map(({ id, key }) => (naming.by === 'key' && key !== undefined ? key : id));
}

function formsOf(
  { by }: Naming,
  candidate: Candidate | undefined,
  what: string,
  twinOf: (value: string) => string,
): Trial[] {
  if (!candidate) return [];
  const { id, key } = candidate;
  const byId = { what, value: id, twin: unknownId(id) };
  return by === 'key' && key !== undefined
    ? [byId, { what: `${what}, by its key`, value: key, twin: twinOf(key) }]
    : [byId];
}

/** A kind whose ids, and keys where there are any, are not those of the kind. */
function otherThan(kind: IdPrefix): IdPrefix {
  return kind === 'team' ? 'issue' : 'team';
}

/** An id beside this one, so that whatever sorts by id has nothing between the two. */
export function unknownId(id: string): string {
  const parsed = parseId(id);
  if (!parsed) throw new Error(`${id} is no id.`);
  return encodeId(parsed.prefix, besideUuid(parsed.uuid));
}

export function besideUuid(uuid: string): string {
  const last = Number.parseInt(uuid.slice(-1), 16) ^ 1;
  return uuid.slice(0, -1) + last.toString(16);
}

/** The key of nothing in any workspace. */
function nowhere(key: string): string {
  return nowhereLetter + key.slice(1);
}

/** The key of nothing in the own workspace, of the same team where the key says one. */
function beside(key: string): string {
  const [code, number] = key.split('-');
  return number === undefined || /\D/.test(number) ? nowhere(key) : `${code}-${'9'.repeat(number.length)}`;
}

/** A cursor with another id in it. */
export function cursorWith(cursor: string, id: (uuid: string) => string): string {
  const [fingerprint, value, uuid] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [
    string,
    unknown,
    string,
  ];
  return Buffer.from(JSON.stringify([fingerprint, value, id(uuid)])).toString('base64url');
}
