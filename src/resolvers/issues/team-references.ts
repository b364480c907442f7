import { limits } from '../../model/limits.ts';
import { selectKnownTeams } from '../../db/reads/team-references.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { decodeId } from '../ids.ts';
import { asciiUpper } from '../keys.ts';

const maxNames = limits.names;

/**
 * The codes and ids that do not name a team, as the client sent them. A filter by an unknown team is refused and does
 * not give an empty list (docs/contract.md, "Lists").
 */
export async function unknownTeams(
  ctx: Context,
  input: { codes?: readonly string[] | null; ids?: readonly string[] | null },
): Promise<string[]> {
  const { db } = requireSignedIn(ctx);
  const codes = input.codes ?? [];
  const ids = input.ids ?? [];
  const violations = new Violations();
  violations.addUnless(
    codes.length + ids.length <= maxNames,
    'codes',
    `takes ${maxNames} teams at most, with ids`,
  );
  // The error repeats the unknown names, and answers must not contain such characters.
  violations.addUnless(
    codes.every((code) => code.isWellFormed() && !code.includes('\0')),
    'codes',
    'must not contain NUL or half a surrogate pair',
  );
  const decoded = ids.flatMap((id) => {
    const result = decodeId('team', id);
    if ('uuid' in result) return [{ id, uuid: result.uuid }];
    violations.add('ids', result.problem);
    return [];
  });
  violations.throwIfAny('invalid_request');
  if (codes.length + ids.length === 0) return [];
  const known = await selectKnownTeams(db, {
    codes: codes.map(asciiUpper).filter((code) => /^[A-Z0-9]+$/.test(code)),
    ids: decoded.map(({ uuid }) => uuid),
  });
  const names = new Set(known.flatMap(({ code, id }) => [code, id]));
  return [
    ...codes.filter((code) => !names.has(asciiUpper(code))),
    ...decoded.filter(({ uuid }) => !names.has(uuid)).map(({ id }) => id),
  ];
}
