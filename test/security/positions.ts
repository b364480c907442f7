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

/** A position in the arguments of a field whose value names an object. */
export interface Position {
  /** A readable name: `Team.issues(filter.lead.id.eq)`. */
  at: string;
  naming: Naming;
  /** The argument that contains the position. */
  argument: GraphQLArgument;
  /** Builds the argument's value with the given value at the position. */
  buildValue: (value: string | readonly string[]) => unknown;
  takesMany: boolean;
}

/** Returns the name of an own object, for required arguments. */
export type Sample = (naming: Naming) => string;

/** How deep filters are explored. */
export interface Depth {
  /** The number of relations to follow. */
  relations: number;
  /** Whether to go into `and`, `or` and `not`. */
  combinators: boolean;
  /** Whether to try every comparator and field there. If not: one comparator for each field of a relation, and one field in `and`. */
  whole: boolean;
}

/** What an argument or an input field declares that it names. */
export function namingOf({ extensions }: GraphQLArgument | GraphQLInputField): Naming | undefined {
  return extensions.names as Naming | undefined;
}

/** Finds every position in the arguments of a field that is declared to name an object. */
export function positionsOf({ coordinate, field }: FieldOf, sample: Sample, depth: Depth): Position[] {
  return field.args.flatMap((argument) =>
    positionsIn(argument, argument.type, undefined, sample, depth).map((position) => ({
      ...position,
      at: `${coordinate}(${[argument.name, ...position.path].join('.')})`,
      argument,
    })),
  );
}

type NestedPosition = Pick<Position, 'naming' | 'buildValue' | 'takesMany'> & { path: string[] };

const combinators = new Set(['and', 'or', 'not']);

function positionsIn(
  holder: GraphQLArgument | GraphQLInputField,
  type: GraphQLInputType,
  inherited: Naming | undefined,
  sample: Sample,
  depth: Depth,
): NestedPosition[] {
  const naming = namingOf(holder) ?? inherited;
  const named = getNamedType(type);
  const takesMany = isListType(getNullableType(type));
  const wrap = (value: unknown) => (takesMany ? [value] : value);
  if (isInputObjectType(named)) {
    return positionsInside(named, naming, sample, depth).map((position) => ({
      ...position,
      buildValue: (value) => wrap(position.buildValue(value)),
    }));
  }
  const takesText = named.name === 'ID' || named.name === 'String';
  if (!naming || !takesText) return [];
  return [{ path: [], naming, takesMany, buildValue: (value) => (takesMany ? [value].flat() : value) }];
}

function positionsInside(
  input: GraphQLInputObjectType,
  naming: Naming | undefined,
  sample: Sample,
  depth: Depth,
): NestedPosition[] {
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
      // An update must change something, so add a text to it.
      ...(naming || isFilter ? [] : fields.filter(isFreeText).slice(0, 1)),
    ];
    const others = Object.fromEntries(rest.map((other) => [other.name, sampleOf(other, sample)]));
    const positions = positionsIn(field, field.type, naming, sample, below);
    return selected(positions, depth.whole ? 'all' : isCombinator ? 'one' : isRelation ? 'each' : 'all').map(
      (position) => ({
        ...position,
        path: [field.name, ...position.path],
        buildValue: (value) => ({ ...others, [field.name]: position.buildValue(value) }),
      }),
    );
  });
}

function isFreeText(field: GraphQLInputField): boolean {
  return String(field.type) === 'String' && !namingOf(field);
}

/** Selects all positions, one comparator for each field (preferably one that takes a list), or a single position. */
function selected(
  positions: readonly NestedPosition[],
  which: 'all' | 'each' | 'one',
): readonly NestedPosition[] {
  if (which === 'all') return positions;
  if (which === 'one') return positions.slice(0, 1);
  const fields = Map.groupBy(positions, ({ path }) => path.slice(0, -1).join('.'));
  return [...fields.values()].flatMap((alike) => alike.find(({ takesMany }) => takesMany) ?? alike[0] ?? []);
}

/** A valid value for an argument or field: the name of an own object if it names one, else any value of its type. */
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

/** Valid values for the required ones of these arguments or input fields. */
export function requiredOf(
  holders: readonly (GraphQLArgument | GraphQLInputField)[],
  sample: Sample,
): Record<string, unknown> {
  const required = holders.filter((holder) => isRequiredInputField(holder));
  return Object.fromEntries(required.map((holder) => [holder.name, sampleOf(holder, sample)]));
}

/** Values that name no object: by the name of the argument if a text must have a certain format, else by type. */
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
