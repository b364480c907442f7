import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { DirectiveLocation, GraphQLDirective, GraphQLList, GraphQLNonNull, GraphQLString } from 'graphql';
import type { Scope } from '../../resolvers/context.ts';
import type { ManagersOnly } from './managers-only.ts';

/**
 * What a field requires of the caller: nothing (`public`), any access token (`token`), a scope, or any one of several
 * scopes.
 */
export type ScopeNeed = 'public' | 'token' | Scope | readonly Scope[];

/** What a field or its arguments require of the caller: of the token, or of the role of its member. */
export type Need = ScopeNeed | ManagersOnly;

declare global {
  // eslint-disable-next-line typescript/no-namespace -- Pothos is extended by merging into its namespace
  namespace PothosSchemaTypes {
    interface FieldOptions {
      /**
       * What the field requires. It determines the check of scope-auth, the `scope` extension that the
       * scope rule reads, and `@requiresScopes` in the printed schema. By default it is the requirement of the type.
       */
      scope?: ScopeNeed;
    }
    interface Plugins<Types extends SchemaTypes> {
      scopes: ScopesPlugin<Types>;
    }
  }
}

/** Printed on each field that requires a scope. */
export const requiresScopes = new GraphQLDirective({
  name: 'requiresScopes',
  description: 'The access token must hold every scope of one of the inner lists.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    scopes: {
      description: 'Alternatives, each a list of scopes that are needed together.',
      type: new GraphQLNonNull(
        new GraphQLList(new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString)))),
      ),
    },
  },
});

const typeNeeds = new Map<string, ScopeNeed>();

/** Sets the requirement of the type's fields that declare none. */
export function declareTypeScope(typeName: string, need: ScopeNeed): void {
  typeNeeds.set(typeName, need);
}

const fieldNeeds = new Map<string, ScopeNeed>();

/** The requirement of a field, once the schema is built. Filtering by a field requires the same as reading it. */
export function needOfField(typeName: string, fieldName: string): ScopeNeed {
  return fieldNeeds.get(`${typeName}.${fieldName}`) ?? typeNeeds.get(typeName) ?? 'token';
}

const rootTypes = new Set(['Query', 'Mutation', 'Subscription']);

class ScopesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const options = field.pothosOptions as { scope?: ScopeNeed };
    const need = options.scope ?? typeNeeds.get(field.parentType);
    if (need === undefined) {
      // Other types are only reachable through a root field, so their fields may do without a requirement.
      if (rootTypes.has(field.parentType)) {
        throw new Error(
          `${field.parentType}.${field.name} must declare its scope, if only 'public' or 'token'.`,
        );
      }
      return field;
    }
    fieldNeeds.set(`${field.parentType}.${field.name}`, need);
    const scopes = typeof need === 'string' ? (need === 'public' || need === 'token' ? [] : [need]) : need;
    const authScopes =
      need === 'public' ? undefined : scopes.length > 0 ? { anyOf: scopes } : { token: true };
    const directives = { requiresScopes: [{ scopes: scopes.map((scope) => [scope]) }] };
    return {
      ...field,
      pothosOptions: { ...field.pothosOptions, ...(authScopes && { authScopes }) },
      extensions: {
        ...field.extensions,
        scope: need,
        ...(scopes.length > 0 && { directives }),
      },
    } as PothosOutputFieldConfig<Types>;
  }
}

SchemaBuilder.registerPlugin('scopes', ScopesPlugin);
