import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { buildSchema, findBreakingChanges } from 'graphql';

/**
 * Describes, in a line each, what a schema breaks of a released one. What the released schema deprecates may go away. Both
 * schemas are texts in the schema definition language.
 */
export function brokenGraphPromises(released: string, now: string): string[] {
  const withoutDeprecated = ({ deprecationReason }: { deprecationReason?: string | null | undefined }) =>
    deprecationReason == null ? undefined : null;
  // `mapSchema` removes an element for null, and keeps it for undefined.
  const promised = mapSchema(buildSchema(released), {
    [MapperKind.FIELD]: withoutDeprecated,
    [MapperKind.ARGUMENT]: withoutDeprecated,
    [MapperKind.ENUM_VALUE]: withoutDeprecated,
  });
  return findBreakingChanges(promised, buildSchema(now)).map(({ description }) => description);
}
