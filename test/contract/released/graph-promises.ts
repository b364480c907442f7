import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { buildSchema, findBreakingChanges } from 'graphql';

/**
 * Says what of a released schema another one breaks, a line for each. What the released one deprecates may go away. Both are given
 * in the schema definition language.
 */
export function brokenGraphPromises(released: string, now: string): string[] {
  const isGoing = ({ deprecationReason }: { deprecationReason?: string | null | undefined }) =>
    deprecationReason == null ? undefined : null;
  const promised = mapSchema(buildSchema(released), {
    [MapperKind.FIELD]: isGoing,
    [MapperKind.ARGUMENT]: isGoing,
    [MapperKind.ENUM_VALUE]: isGoing,
  });
  return findBreakingChanges(promised, buildSchema(now)).map(({ description }) => description);
}
