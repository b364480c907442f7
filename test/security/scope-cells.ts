import { getNamedType } from 'graphql';
import type { Scope } from '../../src/resolvers/context.ts';
import { entitiesByPrefix } from '../../src/schema/entity.ts';
import type { ScopeNeed } from '../../src/schema/scopes.ts';
import { type FieldOf, objectFields, scopeOf } from '../graph/schema-walk.ts';
import type { Things } from '../graph/things.ts';
import type { Sample } from './positions.ts';
import { below, requiredArguments, type Way } from './ways.ts';

/** The fields of one type, read on one way. */
export interface Reading {
  typeName: string;
  /** What has to stand before the selection: nothing, or `mutation`. */
  operation: string;
  way: Way;
  fields: readonly FieldOf[];
}

/** Would a token with this scope alone do. */
export function suffices(need: ScopeNeed | undefined, scope: Scope): boolean {
  if (need === undefined || need === 'public' || need === 'token') return true;
  return [need].flat().includes(scope);
}

/** What reading a field needs, by the schema that clients see. */
export function needOf(of: FieldOf): ScopeNeed | undefined {
  return scopeOf(of.field);
}

/** What opening a thing by `node` needs. */
export function needOfNode(typeName: string): ScopeNeed | undefined {
  return [...entitiesByPrefix.values()].find(({ name }) => name === typeName)?.options.scope;
}

/** The operation that reads these fields, each alone below its parent. */
export function documentOf(
  { operation, way }: Pick<Reading, 'operation' | 'way'>,
  fields: readonly FieldOf[],
  sample: Sample,
): string {
  const selected = fields.map(({ field }) => field.name + requiredArguments(field, sample) + below(field));
  return `${operation}${way.before}${selected.join(' ')}${way.behind}`;
}

/** The fields of every type that are read on a way; a payload's are read where they are made. */
export function fieldsByType(): ReadonlyMap<string, FieldOf[]> {
  return Map.groupBy(objectFields, ({ parent }) => parent);
}

/**
 * Texts that fields show which the scope does not open, and that no field shows which it does: none may appear in any
 * answer, whatever was asked.
 */
export function secretsBefore(things: Things, scope: Scope): readonly string[] {
  const shown = new Set<string>();
  const hidden = new Set<string>();
  for (const of of objectFields) {
    const into = suffices(needOf(of), scope) ? shown : hidden;
    for (const thing of things.all(of.parent)) {
      const value = isLeafList(of) ? thing[of.field.name] : undefined;
      for (const text of [value].flat()) if (typeof text === 'string' && text.length > 5) into.add(text);
    }
  }
  return [...hidden].filter((text) => !shown.has(text) && !words.has(text));
}

function isLeafList({ field }: FieldOf): boolean {
  return ['String', 'URL'].includes(getNamedType(field.type).name);
}

/** Texts that stand in the schema itself. */
const words = new Set(objectFields.flatMap(({ field }) => [field.name, String(field.type)]));
