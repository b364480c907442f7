import {
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
} from 'graphql';
import type { Naming } from '../../src/schema/builder/naming.ts';
import type { FieldOf } from '../graph/schema-walk.ts';

/** A place in the arguments of a field whose value names something. */
export interface Position {
  /** As a person would write it: `Team.issues(filter.lead.id.eq)`. */
  at: string;
  naming: Naming;
  /** The argument that it is in or under. */
  argument: GraphQLArgument;
  /** The value of that argument with this value at the place. */
  given: (value: string | readonly string[]) => unknown;
  takesMany: boolean;
}

/** Something of one's own for what must be given. */
export type Sample = (naming: Naming) => string;

/** How far filters are followed. */
export interface Depth {
  /** Over how many relations. */
  relations: number;
  /** Under `and`, `or` and `not` too. */
  combinators: boolean;
  /** Every comparator and every field there; else one of each field over a relation, and one field under `and`. */
  whole: boolean;
}

/** What an argument or an input field says that it names. */
export function namingOf({ extensions }: GraphQLArgument | GraphQLInputField): Naming | undefined {
  return extensions.names as Naming | undefined;
}

/** Every place in the arguments of a field that names something, by the declarations. */
export function positionsOf({ coordinate, field }: FieldOf, sample: Sample, depth: Depth): Position[] {
  return field.args.flatMap((argument) =>
    placesIn(argument, argument.type, undefined, sample, depth).map((place) => ({
      ...place,
      at: `${coordinate}(${[argument.name, ...place.path].join('.')})`,
      argument,
    })),
  );
}

type Place = Pick<Position, 'naming' | 'given' | 'takesMany'> & { path: string[] };

const combinators = new Set(['and', 'or', 'not']);

function placesIn(
  holder: GraphQLArgument | GraphQLInputField,
  type: GraphQLInputType,
  inherited: Naming | undefined,
  sample: Sample,
  depth: Depth,
): Place[] {
  const naming = namingOf(holder) ?? inherited;
  const named = getNamedType(type);
  const takesMany = isListType(getNullableType(type));
  const wrap = (value: unknown) => (takesMany ? [value] : value);
  if (isInputObjectType(named)) {
    return placesInside(named, naming, sample, depth).map((place) => ({
      ...place,
      given: (value) => wrap(place.given(value)),
    }));
  }
  const takesText = named.name === 'ID' || named.name === 'String';
  if (!naming || !takesText) return [];
  return [{ path: [], naming, takesMany, given: (value) => (takesMany ? [value].flat() : value) }];
}

function placesInside(
  input: GraphQLInputObjectType,
  naming: Naming | undefined,
  sample: Sample,
  depth: Depth,
): Place[] {
  const fields = Object.values(input.getFields());
  const isFilter = fields.some(({ name }) => combinators.has(name));
  return fields.flatMap((field) => {
    const isCombinator = isFilter && combinators.has(field.name);
    if (isCombinator && !depth.combinators) return [];
    const named = getNamedType(field.type);
    const isRelation = isInputObjectType(named) && 'and' in named.getFields() && !isCombinator;
    if (isRelation && depth.relations === 0) return [];
    const below = {
      whole: depth.whole,
      relations: isCombinator ? 0 : depth.relations - (isRelation ? 1 : 0),
      combinators: depth.combinators && !isFilter,
    };
    const rest = [
      ...fields.filter((other) => other !== field && isRequiredInputField(other)),
      // What changes a thing wants to hear of a change.
      ...(naming || isFilter ? [] : fields.filter(isFreeText).slice(0, 1)),
    ];
    const others = Object.fromEntries(rest.map((other) => [other.name, sampleOf(other, sample)]));
    const places = placesIn(field, field.type, naming, sample, below);
    return fewOf(places, depth.whole ? 'all' : isCombinator ? 'one' : isRelation ? 'each' : 'all').map(
      (place) => ({
        ...place,
        path: [field.name, ...place.path],
        given: (value) => ({ ...others, [field.name]: place.given(value) }),
      }),
    );
  });
}

function isFreeText(field: GraphQLInputField): boolean {
  return String(field.type) === 'String' && !namingOf(field);
}

/** All of them, one comparator of each field (a list where there is one), or one alone. */
function fewOf(places: readonly Place[], which: 'all' | 'each' | 'one'): readonly Place[] {
  if (which === 'all') return places;
  if (which === 'one') return places.slice(0, 1);
  const fields = Map.groupBy(places, ({ path }) => path.slice(0, -1).join('.'));
  return [...fields.values()].flatMap((alike) => alike.find(({ takesMany }) => takesMany) ?? alike[0] ?? []);
}

/** Something acceptable for what must be given: one's own things, else any value of the type. */
export function sampleOf(holder: GraphQLArgument | GraphQLInputField, sample: Sample): unknown {
  const naming = namingOf(holder);
  const named = getNamedType(holder.type);
  const one = (): unknown => {
    if (naming) return sample(naming);
    if (isEnumType(named)) return named.getValues()[0]?.name;
    if (isInputObjectType(named)) return requiredOf(Object.values(named.getFields()), sample);
    return sampleValue(holder.name, named.name);
  };
  return isListType(getNullableType(holder.type)) ? [one()] : one();
}

/** What must be given of these arguments or input fields. */
export function requiredOf(
  holders: readonly (GraphQLArgument | GraphQLInputField)[],
  sample: Sample,
): Record<string, unknown> {
  const required = holders.filter((holder) => isRequiredInputField(holder));
  return Object.fromEntries(required.map((holder) => [holder.name, sampleOf(holder, sample)]));
}

/** Values that stand for nothing of the workspace: by name where not any text would do, else by type. */
const sampleValues: Readonly<Record<string, unknown>> = {
  scopes: 'issues:read',
  contentType: 'text/plain',
  fileName: 'matrix.txt',
  timeZone: 'UTC',
  from: dayFromNow(-25),
  to: dayFromNow(1),
  String: 'Matrix',
  Int: 1,
  Boolean: true,
  URL: 'https://matrix.example/',
  DateTime: '2030-01-01T00:00:00Z',
  Date: '2030-01-01',
};

export function sampleValue(name: string, type: string): unknown {
  const value = sampleValues[name] ?? sampleValues[type];
  if (value === undefined) throw new Error(`The matrix has no sample of ${type}.`);
  return value;
}

function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}
