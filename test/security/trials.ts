import { encodeId, type IdPrefix, parseId } from '../../src/resolvers/ids.ts';
import type { Naming } from '../../src/schema/builder/naming.ts';
import { type Candidate, kinds } from './candidates.ts';
import { nowhereLetter, type TwinWorlds } from './twin-worlds.ts';

/** A value to try, and its twin: a value of the same format that names no object. Both must get the same answer. */
export interface Trial {
  what: string;
  value: string;
  twin: string;
}

/** The values to try: objects of the other workspace, and the caller's objects that are deleted or of another kind. */
export function trialsOf(naming: Naming, { own, foreign }: TwinWorlds): Trial[] {
  const prefixes = naming.of ? [naming.of] : kinds;
  return prefixes.flatMap((kind) => [
    ...formsOf(naming, foreign.notDeleted(kind)[0], 'foreign', nowhere),
    ...formsOf(naming, foreign.deleted(kind)[0], 'foreign and deleted', nowhere),
    ...formsOf(naming, own.deleted(kind)[0], 'own and deleted', beside),
    ...(naming.of
      ? [
          ...formsOf(naming, foreign.notDeleted(otherThan(kind))[0], 'foreign of another kind', nowhere),
          ...formsOf(naming, own.notDeleted(otherThan(kind))[0], 'own of another kind', beside),
        ]
      : []),
  ]);
}

/** The ids or keys of the caller's own objects of the kind. */
export function ownValues(naming: Naming, { own }: Pick<TwinWorlds, 'own'>): string[] {
  const found = (naming.of ? [naming.of] : kinds).flatMap((kind) => [
    ...own.notDeleted(kind),
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

/** Another kind, with other ids and keys. */
function otherThan(kind: IdPrefix): IdPrefix {
  return kind === 'team' ? 'issue' : 'team';
}

/** An unused id directly beside the given one, so that no other id sorts between the two. */
export function unknownId(id: string): string {
  const parsed = parseId(id);
  if (!parsed) throw new Error(`${id} is not an id.`);
  return encodeId(parsed.prefix, besideUuid(parsed.uuid));
}

export function besideUuid(uuid: string): string {
  const last = Number.parseInt(uuid.slice(-1), 16) ^ 1;
  return uuid.slice(0, -1) + last.toString(16);
}

/** A key that exists in no workspace. */
function nowhere(key: string): string {
  return nowhereLetter + key.slice(1);
}

/** A key that does not exist in the own workspace, with the same team code if it is the key of an issue. */
function beside(key: string): string {
  const [code, number] = key.split('-');
  return number === undefined || /\D/.test(number) ? nowhere(key) : `${code}-${'9'.repeat(number.length)}`;
}

/** The cursor with its id replaced. */
export function cursorWith(cursor: string, id: (uuid: string) => string): string {
  const [fingerprint, value, uuid] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [
    string,
    unknown,
    string,
  ];
  return Buffer.from(JSON.stringify([fingerprint, value, id(uuid)])).toString('base64url');
}
