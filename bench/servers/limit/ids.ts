import { randomBytes } from 'node:crypto';
import { base32 } from '../type-id.ts';

/**
 * A mark between the prefix of an id and its UUID in the JSON that SQL builds, because base32 in SQL would take longer
 * than the rest of the statement. It is random for each process, so that no text of a user contains it.
 */
const mark = `~${randomBytes(9).toString('base64url')}~`;

/** SQL that builds an id with the mark, which `withIds` completes. Null stays null. */
export function idSql(prefix: string, column: string): string {
  return `'${prefix}_${mark}' || ${column}`;
}

// A cache, since ids of directories repeat in each answer. Ids of issues and comments fill it, so it is cleared now and
// then.
const known = new Map<string, string>();
const maxKnown = 50_000;

/** Replaces the marked ids by TypeIDs. */
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
  if (known.size >= maxKnown) known.clear();
  known.set(uuid, text);
  return text;
}
