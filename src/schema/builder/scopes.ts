import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import {
  DirectiveLocation,
  getNamedType,
  GraphQLDirective,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
  isObjectType,
} from 'graphql';
import type { Scope } from '../../resolvers/context.ts';
import type { Entity } from './entity.ts';
import type { InputTypeExtensions } from './filters.ts';
import type { ManagersOnly } from './managers-only.ts';
import { extensionsOf } from './output-extensions.ts';

/**
 * What a field requires of the caller: nothing (`public`), any access token (`token`), a scope, or any one of several
 * scopes.
 */
export type ScopeNeed = 'public' | 'token' | Scope | readonly Scope[];

/** What a field or its arguments require of the caller: of the token, or of the role of its member. */
export type Need = ScopeNeed | ManagersOnly;

/**
 * What the fields of a type require that declare nothing else. `inherited`: no more than the fields that return the type, as for
 * the payloads of mutations.
 */
export type TypeScope = ScopeNeed | 'inherited';

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
    interface ObjectTypeOptions {
      scope: TypeScope;
    }
    interface InterfaceTypeOptions {
      scope: TypeScope;
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

const fieldNeeds = new Map<string, ScopeNeed>();

/** The requirement of a field, once the schema is built. Filtering by a field requires the same as reading it. */
export function needOfField(typeName: string, fieldName: string): ScopeNeed {
  const need = fieldNeeds.get(`${typeName}.${fieldName}`);
  if (need === undefined)
    throw new Error(`There is no field ${typeName}.${fieldName} that declares a scope.`);
  return need;
}

/** Adds the requirements of fields to the schema, and refuses to build one in which a requirement is missing. */
class ScopesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { parentType, name } = field;
    const options = field.pothosOptions as { scope?: ScopeNeed };
    const type = this.buildCache.getTypeConfig(parentType).pothosOptions as { scope?: TypeScope };
    const need = options.scope ?? type.scope;
    if (need === undefined) {
      throw new Error(
        `${parentType}.${name} has no scope. It or its type must declare one, if only 'public' or 'token'.`,
      );
    }
    if (need === 'inherited') return field;
    fieldNeeds.set(`${parentType}.${name}`, need);
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

  /** Checks that each filter requires what reading the same data requires. */
  override afterBuild(schema: GraphQLSchema): GraphQLSchema {
    for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
      const { entity } = type.extensions as { entity?: Entity<never> };
      entity?.checkFilters();
      for (const field of Object.values(type.getFields())) {
        const filter = field.args.find((argument) => isFilter(getNamedType(argument.type)));
        if (filter && !extensionsOf(field).needsOfArguments) {
          throw new Error(
            `${type.name}.${field.name} has the filter ${filter.name}, but no needsOfArguments that say what it requires.`,
          );
        }
      }
    }
    return schema;
  }
}

function isFilter({ extensions }: { extensions: InputTypeExtensions }): boolean {
  return extensions.isFilter === true;
}

SchemaBuilder.registerPlugin('scopes', ScopesPlugin);
