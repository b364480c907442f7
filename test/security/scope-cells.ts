import { readFileSync } from 'node:fs';
import { parseId } from '../../src/resolvers/ids.ts';
import { getNamedType, parse, valueFromASTUntyped, visit } from 'graphql';
import type { Scope } from '../../src/resolvers/context.ts';
import type { FilterField } from '../../src/resolvers/filters.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import type { ScopeNeed } from '../../src/schema/builder/scopes.ts';
import { type FieldOf, objectFields, planOf } from '../graph/schema-walk.ts';
import type { Model } from '../graph/model.ts';
import type { Sample } from './positions.ts';
import { below, requiredArguments, type SelectionPath } from './selection-paths.ts';

/** Fields of one type, read by one selection path. */
export interface ReadCase {
  typeName: string;
  /** The operation type before the selection: empty for a query. */
  operation: string;
  path: SelectionPath;
  fields: readonly FieldOf[];
}

/** Whether a token with only this scope is sufficient. */
export function suffices(need: ScopeNeed | undefined, scope: Scope): boolean {
  if (need === undefined || need === 'public' || need === 'token') return true;
  return [need].flat().includes(scope);
}

/** The scopes of each field in the published schema, not in the running one, so that the two must agree. */
const published = new Map<string, readonly Scope[]>();
visit(parse(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')), {
  ObjectTypeDefinition: ({ name, fields = [] }) => {
    for (const field of fields) {
      const directive = field.directives?.find(({ name: { value } }) => value === 'requiresScopes');
      const needed = directive?.arguments?.map(({ value }) => valueFromASTUntyped(value)) ?? [];
      published.set(`${name.value}.${field.name.value}`, needed.flat(2) as Scope[]);
    }
  },
});

/** The scopes any one of which permits reading a field; undefined if every token may read it. */
export function needOf({ coordinate }: Pick<FieldOf, 'coordinate'>): readonly Scope[] | undefined {
  const need = published.get(coordinate);
  return need && need.length > 0 ? need : undefined;
}

/** The scope that reading an object by `node` needs. */
export function needOfNode(typeName: string): ScopeNeed | undefined {
  return [...entitiesByPrefix.values()].find(({ name }) => name === typeName)?.options.scope;
}

/** The operation that reads these fields. */
export function documentOf(
  { operation, path }: Pick<ReadCase, 'operation' | 'path'>,
  fields: readonly FieldOf[],
  sample: Sample,
): string {
  const selected = fields.map(({ field }) => field.name + requiredArguments(field, sample) + below(field));
  return `${operation}${path.prefix}${selected.join(' ')}${path.suffix}`;
}

/** All fields by the types that contain them. */
export function fieldsByType(): ReadonlyMap<string, FieldOf[]> {
  return Map.groupBy(objectFields, ({ parent }) => parent);
}

/**
 * Texts that appear only in fields that the scope does not permit to read. None of them may appear in any answer to a
 * token with only this scope.
 */
export function secretsBefore(model: Model, scope: Scope): readonly string[] {
  const shown = new Set<string>();
  const hidden = new Set<string>();
  for (const of of objectFields) {
    const into = suffices(needOf(of), scope) ? shown : hidden;
    for (const object of model.all(of.parent)) {
      const value = isLeafList(of) ? object[of.field.name] : undefined;
      for (const text of [value].flat()) if (isContent(text)) into.add(text);
    }
  }
  return [...hidden].filter((text) => !shown.has(text) && !words.has(text) && !descriptions.includes(text));
}

/** Ids do not count as content: what they give access to is tested separately, and a token may see its own. */
function isContent(text: unknown): text is string {
  return typeof text === 'string' && text.length > 5 && parseId(text) === undefined;
}

function isLeafList({ field }: FieldOf): boolean {
  return ['String', 'URL'].includes(getNamedType(field.type).name);
}

/** Names that occur in the schema itself. */
const words = new Set(objectFields.flatMap(({ field }) => [field.name, String(field.type)]));

/** The descriptions of the schema, which everybody may read, such as the kinds of objects in the audit log. */
const descriptions = objectFields.map(({ field }) => field.description ?? '').join('\n');

/** A filter, and for each field that it tests the fields of the graph that reveal the same value. */
export interface FilterCell {
  filter: string;
  tests: readonly (readonly FieldOf[])[];
}

/** Builds a filter for every field of a type's filter, and for the fields that its relations lead to. */
export function filtersOf(typeName: string, relations: number): FilterCell[] {
  const entity = [...entitiesByPrefix.values()].find(({ name }) => name === typeName);
  return Object.entries(entity?.filterFields() ?? {}).flatMap(([name, field]): FilterCell[] => {
    const tests = showing(typeName, name, field);
    if (tests.length === 0) return [];
    const own: FilterCell = { filter: `{ ${name}: {} }`, tests: [tests] };
    if (field.kind !== 'reference' && field.kind !== 'through') return [own];
    const { table } = field.target;
    const target = [...entitiesByPrefix.values()].find(({ options }) => options.table === table);
    if (relations === 0 || !target) return [own];
    const below = filtersOf(target.name, relations - 1).map(({ filter, tests: deeper }) => ({
      filter: `{ ${name}: ${field.kind === 'through' ? `{ some: ${filter} }` : filter} }`,
      tests: [tests, ...deeper],
    }));
    return [own, ...below];
  });
}

/** The fields of a type that show what a filter tests: the field of the same name, and those that read the same join table. */
function showing(typeName: string, name: string, field: FilterField): FieldOf[] {
  return objectFields.filter((of) => {
    if (of.parent !== typeName) return false;
    const plan = planOf(of.field);
    const parent = plan?.kind === 'list' ? plan.source.parent : undefined;
    const join = parent && 'through' in parent ? parent.through?.table : undefined;
    return of.field.name === name || (field.kind === 'through' && join === field.through.table);
  });
}
