import { parseId } from '../../src/resolvers/ids.ts';

/** The UUID in a TypeID. Throws if the text is no TypeID, so that a test never looks for rows without an id. */
export function uuidOf(id: string): string {
  const parsed = parseId(id);
  if (!parsed) throw new Error(`${id} is no TypeID.`);
  return parsed.uuid;
}
