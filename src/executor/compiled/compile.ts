import {
  type FieldNode,
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import { type SignedIn, signedIn } from '../../resolvers/context.ts';
import { encodeId } from '../../resolvers/ids.ts';
import type { Plan, ReferencePlans } from '../../schema/plan.ts';
import { CountFetch, ExistsFetch, ListFetch, type ListPart, SumsFetch } from './children.ts';
import { Columns } from './columns.ts';
import { ConnectionFetch, connectionField } from './connections.ts';
import { type Field, type Frame, type Link, newFrame } from './frame.ts';
import { columnField, derivedField, valueField } from './leaves.ts';
import { NodesFetch, nodesField } from './nodes.ts';
import { ObjectPlan } from './objects.ts';
import { pageFields } from './page-fields.ts';
import { PropertyFetch, propertyField } from './properties.ts';
import { linkedField, ReferenceFetch, type Target } from './references.ts';
import { GivenFetch, givenField, KeyedFetch } from './roots.ts';
import type { Run } from './run.ts';
import { collectFields, printedArguments, type Reading, usesVariables } from './selection.ts';

/** A field that no plan says how to answer: the operation runs on the reference executor. */
export class NotCompilable extends Error {}

type SharedFetch = ReferenceFetch | ListFetch | SumsFetch | ConnectionFetch;

/** What a selection stands for, while it is compiled. */
export interface Place {
  reading: Reading;
  type: GraphQLObjectType;
  plan: ObjectPlan;
  /** The fetches that several fields of the object share, by what they fetch. */
  shared: Map<string, SharedFetch>;
}

type AnyField = GraphQLField<unknown, unknown>;

/** The plan of a query's root; throws NotCompilable. */
export function compileOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>,
): ObjectPlan {
  const type = schema.getQueryType();
  if (!type || operation.operation !== 'query') throw new NotCompilable('Only queries are compiled.');
  return compileObject({ schema, fragments, variables }, type, [operation], new Columns('given'));
}

/** The plan of the selections on one type of object whose rows have these columns. */
export function compileObject(
  reading: Reading,
  type: GraphQLObjectType,
  nodes: readonly (FieldNode | OperationDefinitionNode)[],
  columns: Columns,
): ObjectPlan {
  const plan = new ObjectPlan(type.name, columns);
  const place: Place = { reading, type, plan, shared: new Map() };
  for (const [key, fieldNodes] of collectFields(reading, type, nodes)) {
    plan.fields.push(compileField(place, key, fieldNodes));
  }
  return plan;
}

function compileField(place: Place, key: string, nodes: readonly FieldNode[]): Field {
  const [node] = nodes;
  const name = node?.name.value ?? '';
  if (name === '__typename') {
    const { typeName } = place.plan;
    return { key, text: () => `"${typeName}"`, value: () => typeName };
  }
  const field: AnyField | undefined = place.type.getFields()[name];
  if (!field) throw new NotCompilable(`${place.type.name}.${name}`);
  const { plan, pothosExposedField: column } = field.extensions as {
    plan?: Plan;
    pothosExposedField?: string;
  };
  if (plan) return compilePlan(place, key, field, nodes, plan);
  if (typeof column === 'string') {
    if (isLeafType(getNamedType(field.type))) return columnField(key, field.type, column, place.plan.columns);
    if (place.plan.columns.given) return property(place, key, field, nodes, column);
  }
  throw new NotCompilable(`${place.type.name}.${name}`);
}

function compilePlan(
  place: Place,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  plan: Plan,
): Field {
  const { plan: object } = place;
  const { columns } = object;
  const nullable = !isNonNullType(field.type);
  switch (plan.kind) {
    case 'id': {
      const read = columns.reader(plan.column);
      return derivedField(key, field.type, (row) => {
        const uuid = read(row);
        return uuid === null ? null : encodeId(plan.prefix, uuid);
      });
    }
    case 'reference':
      return reference(place, key, field, nodes, plan, plan.key);
    case 'one': {
      const { table, where, parent } = plan.source;
      return reference(place, key, field, nodes, { table, by: parent.column, where }, plan.parentKey);
    }
    case 'byKey': {
      const fetch = new KeyedFetch(plan, argumentsOf(field, nodes), object.newPart());
      fetch.plan = compileObject(place.reading, objectType(field), nodes, fetch.columns);
      object.fetches.push(fetch);
      return linkedField(key, nullable, fetch.part, fetch.plan);
    }
    case 'connection': {
      const { fixed, args } = argumentsOf(field, nodes);
      const fetch = shared(place, `page ${field.name} ${printedArguments(nodes)}`, () => {
        const parent = plan.parentKey === undefined ? undefined : columns.reader(plan.parentKey);
        return new ConnectionFetch({ list: plan.list, key: parent, part: object.newPart(), args, fixed });
      });
      return connectionField(key, fetch.part, pageFields(place.reading, fetch, objectType(field), nodes));
    }
    case 'list':
      return list(place, key, field, nodes, plan);
    case 'exists': {
      const part = object.newPart();
      object.fetches.push(new ExistsFetch(plan, columns.reader('id'), part));
      return valueField(key, field.type, (frame, row) => (frame.parts[part] as boolean[])[row]);
    }
    case 'count': {
      const { source, filter, parentKey } = plan;
      const { parent } = source;
      if (!parent) throw new NotCompilable(`${place.type.name}.${field.name}`);
      const part = object.newPart();
      const children = { source: { ...source, parent }, filter };
      object.fetches.push(new CountFetch(children, columns.reader(parentKey), part));
      return valueField(key, field.type, (frame, row) => (frame.parts[part] as number[])[row]);
    }
    case 'sums': {
      const fetch = shared(place, `sums ${plan.table} ${plan.keyColumn}`, () => {
        const read = columns.reader('id');
        return new SumsFetch(plan.table, plan.keyColumn, read, object.newPart());
      });
      fetch.add(plan.columns);
      return valueField(key, field.type, (frame, row) =>
        plan.compute((frame.parts[fetch.part] as Record<string, number>[])[row] ?? {}),
      );
    }
    case 'computed':
      return computed(place, key, field, plan);
    case 'nodes': {
      const { args } = argumentsOf(field, nodes);
      const part = object.newPart();
      const ids = (run: Run) => [args(run)[plan.argument]].flat() as string[];
      object.fetches.push(new NodesFetch({ kinds: plan.kinds, ids, part, reading: place.reading, nodes }));
      return nodesField(key, part, plan.argument === 'ids');
    }
    case 'self':
      return self(place, key, field, nodes);
    case 'source':
      return source(place, key, field, nodes, plan);
  }
}

/** The object type that the field gives, of one or of a list. */
function objectType(field: AnyField): GraphQLObjectType {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) throw new NotCompilable(`${field.name} gives no object.`);
  return type;
}

/** The arguments of a field in one run; worked out once where no variable is among them. */
export function argumentsOf(field: AnyField, nodes: readonly FieldNode[]) {
  const [node] = nodes as [FieldNode];
  const fixed = !usesVariables(nodes);
  let once: Record<string, unknown> | undefined;
  const args = (run: Run): Record<string, unknown> => {
    if (once) return once;
    const given = getArgumentValues(field, node, run.variables);
    if (fixed) once = given;
    return given;
  };
  return { fixed, args };
}

function shared<Fetch extends SharedFetch>(
  { plan, shared: known }: Place,
  what: string,
  make: () => Fetch,
): Fetch {
  const existing = known.get(what);
  // The names say which kind of fetch it is.
  if (existing) return existing as Fetch;
  const made = make();
  known.set(what, made);
  plan.fetches.push(made);
  return made;
}

function referenceFetch(place: Place, { table, by, where }: Target): ReferenceFetch {
  const target = { table, by, where };
  return shared(place, `reference ${JSON.stringify(target)}`, () => new ReferenceFetch(target));
}

function reference(
  place: Place,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  target: Target,
  keyColumn: string,
): Field {
  const fetch = referenceFetch(place, target);
  const plan = compileObject(place.reading, objectType(field), nodes, fetch.columns);
  const part = place.plan.newPart();
  fetch.add({ key: place.plan.columns.reader(keyColumn), part, plan });
  return linkedField(key, !isNonNullType(field.type), part, plan);
}

function list(
  place: Place,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  { source, orderBy, parentKey, only }: Extract<Plan, { kind: 'list' }>,
): Field {
  const { plan } = place;
  const { parent } = source;
  if (!parent) throw new NotCompilable(`${place.type.name}.${field.name}`);
  const fetch = shared(
    place,
    `list ${JSON.stringify([source, orderBy, parentKey])}`,
    () => new ListFetch({ ...source, parent }, orderBy, plan.columns.reader(parentKey), plan.newPart()),
  );
  const listed = only
    ? new ObjectPlan('', fetch.columns)
    : compileObject(place.reading, objectType(field), nodes, fetch.columns);
  const view = fetch.view(listed);
  const item = only ? onlyField(field.type, only, fetch.columns) : listed;
  const each = <Result>(frame: Frame, row: number, show: (frame: Frame, row: number) => Result): Result[] => {
    const { at, start, end, frames } = frame.parts[fetch.part] as ListPart;
    const group = at[row] ?? 0;
    const results: Result[] = [];
    for (let place = start[group] ?? 0; place < (end[group] ?? 0); place += 1)
      results.push(show(frames[view] as Frame, place));
    return results;
  };
  return {
    key,
    text: (frame, row) => `[${each(frame, row, (rows, at) => item.text(rows, at)).join(',')}]`,
    value: (frame, row) => each(frame, row, (rows, at) => item.value(rows, at)),
  };
}

function onlyField(
  type: GraphQLOutputType,
  { column, prefix }: NonNullable<Extract<Plan, { kind: 'list' }>['only']>,
  columns: Columns,
): Field {
  const read = columns.reader(column);
  return derivedField('', itemType(type), (row) => {
    const text = read(row);
    return prefix && text !== null ? encodeId(prefix, text) : text;
  });
}

function itemType(type: GraphQLOutputType): GraphQLOutputType {
  const bare = isNonNullType(type) ? type.ofType : type;
  return isListType(bare) ? (bare.ofType as GraphQLOutputType) : bare;
}

function computed(
  place: Place,
  key: string,
  field: AnyField,
  { columns, references, context, compute }: Extract<Plan, { kind: 'computed' }>,
): Field {
  const read = rowReader(place.plan, columns);
  const referred = referredReader(place, references);
  return valueField(key, field.type, (frame, row) =>
    compute(
      read(frame, row) as never,
      referred(frame, row) as never,
      (context ? signedIn(frame.run.context) : undefined) as SignedIn,
    ),
  );
}

type ReadObject = (frame: Frame, row: number) => Record<string, unknown>;

/** Reads some columns of a row as the object that computed fields know. */
function rowReader(plan: ObjectPlan, columns: readonly string[]): ReadObject {
  const decoders = columns.map((column) => [column, plan.columns.decoder(column)] as const);
  return (frame, row) => {
    const object: Record<string, unknown> = {};
    for (const [column, decode] of decoders) object[column] = decode(frame, row);
    return object;
  };
}

/** Reads the rows that a computed field refers to, each with those beyond it; undefined where there is none. */
function referredReader(place: Place, references: ReferencePlans): ReadObject {
  const readers = Object.entries(references).map(([name, { table, by, where, key, columns, nested }]) => {
    const fetch = referenceFetch(place, { table, by, where });
    const plan = new ObjectPlan('', fetch.columns);
    const part = place.plan.newPart();
    fetch.add({ key: place.plan.columns.reader(key), part, plan });
    const beyond = referredReader({ ...place, plan, shared: new Map() }, nested);
    const own = rowReader(plan, columns);
    const read: ReadObject = (frame, row) => ({ ...own(frame, row), ...beyond(frame, row) });
    return { name, part, read };
  });
  return (frame, row) => {
    const referred: Record<string, unknown> = {};
    for (const { name, part, read } of readers) {
      const link = frame.parts[part] as Link;
      const at = link.at[row] ?? -1;
      referred[name] = at < 0 ? undefined : read(link.frame, at);
    }
    return referred;
  };
}

/** Objects within an object that a resolver gave. */
function property(
  place: Place,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  column: string,
): Field {
  const plan = compileObject(place.reading, objectType(field), nodes, new Columns('given'));
  const part = place.plan.newPart();
  place.plan.fetches.push(new PropertyFetch(column, part, plan));
  return propertyField(key, field.type, part, plan);
}

/** The same row under another type. */
function self(place: Place, key: string, field: AnyField, nodes: readonly FieldNode[]): Field {
  const plan = compileObject(place.reading, objectType(field), nodes, place.plan.columns);
  const part = place.plan.newPart();
  place.plan.fetches.push({
    fetch: async (frame, run) => {
      const same = newFrame(run, frame.rows, frame.types);
      frame.parts[part] = same;
      await plan.fetch(same, run);
    },
  });
  return {
    key,
    text: (frame, row) => plan.text(frame.parts[part] as Frame, row),
    value: (frame, row) => plan.value(frame.parts[part] as Frame, row),
  };
}

/** What a resolver call gives at the root of the operation. */
function source(
  place: Place,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  { load }: Extract<Plan, { kind: 'source' }>,
): Field {
  if (place.type !== place.reading.schema.getQueryType())
    throw new NotCompilable(`${place.type.name}.${field.name}`);
  const { args } = argumentsOf(field, nodes);
  const part = place.plan.newPart();
  const leaf = isLeafType(getNamedType(field.type));
  const plan = leaf
    ? undefined
    : compileObject(place.reading, objectType(field), nodes, new Columns('given'));
  place.plan.fetches.push(new GivenFetch(load, args, part, plan));
  return givenField(key, field.type, part, plan);
}
