import type { GraphQLNamedType } from 'graphql';

/**
 * Whether objects of a type only wrap rows: connections, edges and the information about a page. Relay's specification of
 * connections reserves these names. Their fields have no plans of their own.
 */
export function isWrapper({ name }: Pick<GraphQLNamedType, 'name'>): boolean {
  return /(Connection|Edge)$|^PageInfo$/.test(name);
}
