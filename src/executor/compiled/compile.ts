import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  isNonNullType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { concatenatedField } from './concatenated.ts';
import { joinsViewer } from '../../db/tables/derived-columns.ts';
import { preloadedSums } from '../../db/writes/preloaded.ts';
import { encodeId } from '../../resolvers/ids.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import type { Plan } from '../../schema/builder/plan.ts';
import { CountFetch, ExistsFetch, SumsFetch } from './children.ts';
import { Columns } from './columns.ts';
import { computedField } from './computed.ts';
import { ConnectionFetch, connectionField } from './connections.ts';
import { type Field, type Frame, newFrame, NotCompilable } from './frame.ts';
import { booleanField, columnField, idField, valueField } from './leaves.ts';
import { listField } from './listed.ts';
import { NodesFetch, nodesField } from './nodes.ts';
import { type Fetch, ObjectPlan } from './objects.ts';
import { pageFields } from './page-fields.ts';
import {
  type AnyField,
  argumentsOf,
  attachedColumn,
  objectType,
  type CompileContext,
  referenceFetch,
  shared,
} from './compile-context.ts';
import { nestedField } from './properties.ts';
import { linkedField, type Preload, type Target } from './references.ts';
import { EventsFetch, ResolverFetch, resolverField, KeyedFetch } from './roots.ts';
import { type Run, viewerSlot } from './run.ts';
import { SeriesFetch } from './series.ts';
import { leafPlan } from './leaf-plans.ts';
import { literalOf } from './sink.ts';
import { type Compiling, collectFields, printedArguments } from './selection.ts';

/** Compiles an operation to the plan of its root; throws NotCompilable. */
export function compileOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>,
): ObjectPlan {
  const type = schema.getRootType(operation.operation);
  if (!type) throw new NotCompilable(`There is no ${operation.operation}.`);
  const compiling: Compiling = {
    schema,
    fragments,
    variables,
    preloads: new Set(),
    object: (below, nodes, columns) => compileObject(compiling, below, nodes, columns),
  };
  const plan = compileObject(compiling, type, [operation], new Columns('resolved'));
  plan.isSerial = operation.operation === OperationTypeNode.MUTATION;
  return plan;
}

/** Compiles the selections on one object type whose rows have these columns. */
function compileObject(
  compiling: Compiling,
  type: GraphQLObjectType,
  nodes: readonly (FieldNode | OperationDefinitionNode)[],
  columns: Columns,
): ObjectPlan {
  const fields = collectFields(compiling, type, nodes);
  const make = () => {
    const plan = new ObjectPlan(type.name, columns);
    const context: CompileContext = { compiling, type, plan, shared: new Map() };
    for (const [key, fieldNodes] of fields) plan.fields.push(compileField(context, key, fieldNodes));
    plan.repeatsFields = new Set([...fields.values()].map(([node]) => node?.name.value)).size < fields.size;
    return plan;
  };
  return columns.isCached ? leafPlan(compiling.schema, type, fields, make) : make();
}

function compileField(context: CompileContext, key: string, nodes: readonly FieldNode[]): Field {
  const [node] = nodes;
  const name = node?.name.value ?? '';
  if (name === '__typename') {
    const typeName = literalOf(context.plan.typeName);
    return { key, ofRow: true, write: (out) => out.literal(typeName) };
  }
  const field: AnyField | undefined = context.type.getFields()[name];
  if (!field) throw new NotCompilable(`${context.type.name}.${name}`);
  const { plan, pothosExposedField: column } = extensionsOf(field);
  if (plan) return compilePlan(context, key, field, nodes, plan);
  if (typeof column === 'string') {
    if (isLeafType(getNamedType(field.type)))
      return columnField(key, field.type, column, context.plan.columns);
    if (context.plan.columns.isResolved)
      return nestedField(context, key, field, nodes, context.plan.columns.decoder(column));
  }
  throw new NotCompilable(`${context.type.name}.${name}`);
}

function compilePlan(
  context: CompileContext,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  plan: Plan,
): Field {
  const { plan: object } = context;
  const { columns } = object;
  const nullable = !isNonNullType(field.type);
  switch (plan.kind) {
    case 'id':
      // Cached rows belong to the tenant of the request, so they have no column for it.
      if (columns.isCached && plan.column === 'workspaceId')
        return valueField(key, field.type, ({ run }) => encodeId(plan.prefix, run.principal.workspaceId));
      return idField(key, field.type, plan.prefix, plan.column, columns);
    case 'reference':
      return reference(context, key, field, nodes, plan, plan.key);
    case 'one': {
      const { table, where, parent } = plan.source;
      return reference(context, key, field, nodes, { table, by: parent.column, where }, plan.parentKey);
    }
    case 'byKey': {
      const fetch = new KeyedFetch(plan, argumentsOf(field, nodes), object.newPart());
      fetch.plan = compileObject(context.compiling, objectType(field), nodes, fetch.columns);
      object.fetches.push(fetch);
      return linkedField(key, nullable, fetch.part, fetch.plan);
    }
    case 'connection': {
      const { fixed, args } = argumentsOf(field, nodes);
      const fetch = shared(context, `page ${field.name} ${printedArguments(nodes)}`, () => {
        const parent = plan.parentKey === undefined ? undefined : columns.key(plan.parentKey);
        const { list, count: counted } = plan;
        // The counts on cached rows may be outdated.
        const count = counted === undefined || columns.isCached ? undefined : () => columns.reader(counted);
        return new ConnectionFetch({ list, key: parent, count, part: object.newPart(), args, fixed });
      });
      return connectionField(key, fetch.part, pageFields(context.compiling, fetch, objectType(field), nodes));
    }
    case 'list':
      return listField(context, key, field, nodes, plan);
    case 'exists': {
      const { table, keyColumn, viewerColumn } = plan;
      const attached = attachedColumn(context, table, {
        description: JSON.stringify(['joins viewer', table, keyColumn, viewerColumn]),
        sql: joinsViewer(table, keyColumn, viewerColumn, viewerSlot),
      });
      if (attached?.index !== undefined) return booleanField(key, field.type, attached.index);
      const part = object.newPart();
      object.fetches.push(new ExistsFetch(plan, columns.key('id'), attached?.text, part));
      return valueField(key, field.type, (frame, row) => (frame.parts[part] as boolean[])[row]);
    }
    case 'count': {
      const { source, filter, parentKey } = plan;
      const { parent } = source;
      if (!parent) throw new NotCompilable(`${context.type.name}.${field.name}`);
      const part = object.newPart();
      const children = { source: { ...source, parent }, filter };
      object.fetches.push(new CountFetch(children, columns.key(parentKey), part));
      return valueField(key, field.type, (frame, row) => (frame.parts[part] as number[])[row]);
    }
    case 'sums': {
      const fetch = shared(context, `sums ${plan.table} ${plan.keyColumn}`, () => {
        return new SumsFetch(plan.table, plan.keyColumn, columns.key('id'), object.newPart());
      });
      fetch.add(plan.columns);
      return valueField(key, field.type, (frame, row) =>
        plan.compute((frame.parts[fetch.part] as Record<string, number>[])[row] ?? {}),
      );
    }
    case 'computed':
      return computedField(context, key, field, nodes, plan);
    case 'concatenated':
      return concatenatedField(context, key, plan);
    case 'nodes': {
      const { args } = argumentsOf(field, nodes);
      const part = object.newPart();
      const ids = (run: Run) => [args(run)[plan.argument]].flat() as string[];
      object.fetches.push(
        new NodesFetch({ kinds: plan.kinds, ids, part, compiling: context.compiling, nodes }),
      );
      return nodesField(key, part, plan.argument === 'ids');
    }
    case 'series': {
      const below = compileObject(context.compiling, objectType(field), nodes, new Columns('resolved'));
      const { args } = argumentsOf(field, nodes);
      const part = object.newPart();
      object.fetches.push(new SeriesFetch({ ...plan, args, key: columns.key(plan.parentKey), part, below }));
      return linkedField(key, nullable, part, below);
    }
    case 'self':
      return self(context, key, field, nodes);
    case 'source':
      return source(context, key, field, nodes, plan);
    case 'events': {
      const below = compileObject(context.compiling, objectType(field), nodes, new Columns('resolved'));
      const part = object.newPart();
      object.fetches.push(new EventsFetch(part, below));
      return linkedField(key, nullable, part, below);
    }
  }
}

function reference(
  context: CompileContext,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  target: Target,
  keyColumn: string,
): Field {
  const fetch = referenceFetch(context, target);
  const plan = compileObject(context.compiling, objectType(field), nodes, fetch.columns);
  const part = context.plan.newPart();
  const preloads = plan.fetches.flatMap((each) => preloadOf(context, each, keyColumn) ?? []);
  fetch.add({ key: context.plan.columns.key(keyColumn), part, plan, preloads });
  return linkedField(key, !isNonNullType(field.type), part, plan);
}

/** Sums of counters may be preloaded on the row that refers to their row, where both use the same key column. */
function preloadOf(context: CompileContext, fetch: Fetch, keyColumn: string): Preload | undefined {
  if (!(fetch instanceof SumsFetch) || fetch.keyColumn !== keyColumn) return undefined;
  const { table, part } = fetch;
  const attached = attachedColumn(context, table);
  return attached && { fetch, part, value: (row) => preloadedSums(table, attached.text(row)) };
}

/** The same row under another type. */
function self(context: CompileContext, key: string, field: AnyField, nodes: readonly FieldNode[]): Field {
  const plan = compileObject(context.compiling, objectType(field), nodes, context.plan.columns);
  const part = context.plan.newPart();
  context.plan.fetches.push({
    showsOnlyWritten: plan.showsOnlyWritten,
    fetch: (frame, run) => {
      const same = newFrame(run, frame.rows, frame.types);
      frame.parts[part] = same;
      return plan.fetch(same, run);
    },
  });
  return {
    key,
    write: (out, frame, row) => plan.write(out, frame.parts[part] as Frame, row),
    below: {
      plan,
      fields: plan.fields,
      frame: (frame) => frame.parts[part] as Frame,
      from: (_frame, row) => row,
      to: (_frame, row) => row + 1,
    },
  };
}

/** A root field that one resolver call answers. */
function source(
  context: CompileContext,
  key: string,
  field: AnyField,
  nodes: readonly FieldNode[],
  { load }: Extract<Plan, { kind: 'source' }>,
): Field {
  const { schema } = context.compiling;
  if (context.type !== schema.getQueryType() && context.type !== schema.getMutationType())
    throw new NotCompilable(`${context.type.name}.${field.name}`);
  const { args } = argumentsOf(field, nodes);
  const part = context.plan.newPart();
  const leaf = isLeafType(getNamedType(field.type));
  const plan = leaf
    ? undefined
    : compileObject(context.compiling, objectType(field), nodes, new Columns('resolved'));
  context.plan.fetches.push(
    new ResolverFetch({ key, load, args, part, plan, preloads: context.compiling.preloads }),
  );
  return resolverField(key, field.type, part, plan);
}
