import { randomBytes } from 'node:crypto';
import { base32 } from '../type-id.ts';

/**
 * Stands in the JSON that SQL builds between the prefix of an id and its UUID; base32 in SQL would cost more than
 * the rest of the statement. New in each process, so that no text of a user can hold it.
 */
const mark = `~${randomBytes(9).toString('base64url')}~`;

/** SQL that builds an id to be finished by `withIds`; null stays null. */
export function idSql(prefix: string, column: string): string {
  return `'${prefix}_${mark}' || ${column}`;
}

// Directories repeat in each answer; issues and comments push them out now and then.
const known = new Map<string, string>();
const mostKnown = 50_000;

/** Puts the TypeIDs in. */
export function withIds(json: string): string {
  let out = '';
  let done = 0;
  for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, done)) {
    const from = at + mark.length;
    const uuid = json.slice(from, from + 36);
    out += json.slice(done, at) + encoded(uuid);
    done = from + 36;
  }
  return done === 0 ? json : out + json.slice(done);
}

function encoded(uuid: string): string {
  const found = known.get(uuid);
  if (found) return found;
  const text = base32(uuid);
  if (known.size >= mostKnown) known.clear();
  known.set(uuid, text);
  return text;
}
