import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { extensionsOf } from '../../../schema/builder/output-extensions.ts';
import type { Plan } from '../../../schema/builder/plan.ts';
import { Columns } from './columns.ts';
import type { AnyField, CompileContext, FieldContext } from './compile-context.ts';
import { compileComputed } from '../fields/computed.ts';
import { compileConcatenated } from '../fields/concatenated.ts';
import { type Field, NotCompilable } from '../run/frame.ts';
import { leafPlan } from './leaf-plans.ts';
import { columnField } from '../fields/leaves.ts';
import { compileList } from '../fields/list-field.ts';
import { nestedField } from '../fields/nested-field.ts';
import { ObjectPlan } from './objects.ts';
import {
  compileByKey,
  compileCount,
  compileId,
  compileEvents,
  compileExists,
  compileOne,
  compileConnection,
  compileReference,
  compileNodes,
  compileSelf,
  compileSeries,
  compileSource,
  compileSums,
} from '../fields/plan-fields.ts';
import { type Compilation, collectFields } from './selection.ts';
import { literalOf } from '../writing/sink.ts';

/** Compiles an operation to the plan of its root; throws NotCompilable. */
export function compileOperation(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>,
): ObjectPlan {
  const type = schema.getRootType(operation.operation);
  if (!type) throw new NotCompilable(`There is no ${operation.operation}.`);
  const compilation: Compilation = {
    schema,
    fragments,
    variables,
    preloads: new Set(),
    compileObject: (child, nodes, columns) => compileObject(compilation, child, nodes, columns),
  };
  const plan = compileObject(compilation, type, [operation], new Columns('resolved'));
  plan.isSerial = operation.operation === OperationTypeNode.MUTATION;
  return plan;
}

/** Compiles the selections on one object type whose rows have these columns. */
function compileObject(
  compilation: Compilation,
  type: GraphQLObjectType,
  nodes: readonly (FieldNode | OperationDefinitionNode)[],
  columns: Columns,
): ObjectPlan {
  const fields = collectFields(compilation, type, nodes);
  const make = () => {
    const plan = new ObjectPlan(type.name, columns);
    const context: CompileContext = { compilation, type, plan, shared: new Map() };
    for (const [responseName, fieldNodes] of fields)
      plan.fields.push(compileField(context, responseName, fieldNodes));
    plan.repeatsFields = new Set([...fields.values()].map(([node]) => node?.name.value)).size < fields.size;
    return plan;
  };
  return columns.isCached ? leafPlan(compilation.schema, type, fields, make) : make();
}

function compileField(context: CompileContext, responseName: string, nodes: readonly FieldNode[]): Field {
  const [node] = nodes;
  const name = node?.name.value ?? '';
  if (name === '__typename') {
    const typeName = literalOf(context.plan.typeName);
    return { responseName, dependsOnlyOnRow: true, write: (out) => out.literal(typeName) };
  }
  const field: AnyField | undefined = context.type.getFields()[name];
  if (!field) throw new NotCompilable(`${context.type.name}.${name}`);
  const { plan, pothosExposedField: column } = extensionsOf(field);
  const selected = { context, responseName, field, nodes };
  if (plan) return compilePlan(selected, plan);
  if (typeof column === 'string') {
    if (isLeafType(getNamedType(field.type)))
      return columnField(responseName, field.type, column, context.plan.columns);
    if (context.plan.columns.isResolved) return nestedField(selected, context.plan.columns.decoder(column));
  }
  throw new NotCompilable(`${context.type.name}.${name}`);
}

function compilePlan(selected: FieldContext, plan: Plan): Field {
  switch (plan.kind) {
    case 'id':
      return compileId(selected, plan);
    case 'reference':
      return compileReference(selected, plan, plan.key);
    case 'one':
      return compileOne(selected, plan);
    case 'byKey':
      return compileByKey(selected, plan);
    case 'connection':
      return compileConnection(selected, plan);
    case 'list':
      return compileList(selected, plan);
    case 'exists':
      return compileExists(selected, plan);
    case 'count':
      return compileCount(selected, plan);
    case 'sums':
      return compileSums(selected, plan);
    case 'computed':
      return compileComputed(selected, plan);
    case 'concatenated':
      return compileConcatenated(selected, plan);
    case 'nodes':
      return compileNodes(selected, plan);
    case 'series':
      return compileSeries(selected, plan);
    case 'self':
      return compileSelf(selected);
    case 'source':
      return compileSource(selected, plan);
    case 'events':
      return compileEvents(selected);
  }
}
