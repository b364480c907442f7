import {
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  isObjectType,
} from 'graphql';
import { argumentReader } from '../../inputs/argument-values.ts';
import type { TableName } from '../../../db/tables/tables.ts';
import type { SumsFetch } from '../fields/children.ts';
import type { Derivation, KeyColumn } from './columns.ts';
import type { ConnectionFetch } from '../pages/connections.ts';
import { NotCompilable } from '../run/frame.ts';
import type { ListFetch } from '../fields/list-fetch.ts';
import type { ObjectPlan } from './objects.ts';
import { ReferenceFetch, type Target } from '../fields/references.ts';
import type { Run } from '../run/run.ts';
import { type Compilation, usesVariables } from './selection.ts';

type SharedFetch = ReferenceFetch | ListFetch | SumsFetch | ConnectionFetch;

/** The object whose selection is being compiled. */
export interface CompileContext {
  compilation: Compilation;
  type: GraphQLObjectType;
  plan: ObjectPlan;
  /** The fetches that several fields of the object share, by a key that begins with the kind of fetch. */
  shared: Map<string, SharedFetch>;
}

export type AnyField = GraphQLField<unknown, unknown>;

/** A field that is being compiled. */
export interface FieldContext {
  /** The object that has the field. */
  readonly context: CompileContext;
  /** Its response name. */
  readonly responseName: string;
  readonly field: AnyField;
  /** Where it is selected. */
  readonly nodes: readonly FieldNode[];
}

/** The object type of a field, or of the items of its list. */
export function objectType(field: AnyField): GraphQLObjectType {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) throw new NotCompilable(`${field.name} does not return objects.`);
  return type;
}

/** The arguments of a field in one run. They are computed once for all runs if they contain no variable. */
export function argumentsOf(field: AnyField, nodes: readonly FieldNode[]) {
  const [node] = nodes as [FieldNode];
  const fixed = !usesVariables(nodes);
  const read = argumentReader(field, node);
  let fixedValues: Record<string, unknown> | undefined;
  const args = (run: Run): Record<string, unknown> => {
    if (fixedValues) return fixedValues;
    const values = read(run.variables);
    if (fixed) fixedValues = values;
    return values;
  };
  return { fixed, args };
}

/** Returns the fetch that fields of the object share under this key. The first of these fields adds it to the plan. */
export function sharedFetch<Fetch extends SharedFetch>(
  { plan, shared }: CompileContext,
  key: string,
  make: () => Fetch,
): Fetch {
  const existing = shared.get(key);
  if (existing) return existing as Fetch;
  const fetch = make();
  shared.set(key, fetch);
  plan.fetches.push(fetch);
  return fetch;
}

/** A column attached to the rows of the object. If a write returns these rows, it preloads the column on them. */
export function attachedColumn(
  { compilation, plan }: CompileContext,
  table: TableName,
  derive?: Derivation,
): KeyColumn | undefined {
  if (plan.columns.isResolved) compilation.preloads.add(table);
  return plan.columns.attached(table, derive);
}

export function referenceFetch(context: CompileContext, { table, by, where }: Target): ReferenceFetch {
  const target = { table, by, where };
  return sharedFetch(context, `reference ${JSON.stringify(target)}`, () => new ReferenceFetch(target));
}
