import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { noTokenMessage } from '../../resolvers/context.ts';
import type { Connection } from '../../resolvers/connections.ts';
import type { Context, Scope } from '../../resolvers/context.ts';
import { AppError } from '../../resolvers/errors.ts';
import './plan-resolver.ts';
import './scopes.ts';

/** The types that Pothos checks the declarations against. */
interface BuilderOptions {
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Connection: { total: Connection['total'] };
  AuthScopes: { token: boolean; anyOf: readonly Scope[] };
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    Date: { Input: string; Output: string };
    URL: { Input: string; Output: string };
    /** A resolver returns the plain text. */
    RichText: { Input: never; Output: string };
  };
}
export type Types = PothosSchemaTypes.ExtendDefaultTypes<BuilderOptions>;

/** Each type of the schema is declared with this builder. The relay plugin must come before scope-auth. */
export const builder = new SchemaBuilder<BuilderOptions>({
  plugins: [RelayPlugin, 'scopes', 'plans', ScopeAuthPlugin, DirectivesPlugin],
  defaultFieldNullability: false,
  relay: {
    cursorType: 'String',
    nodesOnConnection: { description: 'The rows of the page, without their cursors.' },
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    nodeTypeOptions: { scope: 'inherited', description: 'An object that can be read by its id.' },
    idFieldOptions: {
      description:
        'The id, the same in GraphQL and REST: a prefix that names the type, then a UUIDv7 in base32.',
    },
    pageInfoTypeOptions: {
      scope: 'inherited',
      description: 'Whether there are pages before and after this one, and the cursors at its ends.',
    },
    hasNextPageFieldOptions: {
      description:
        'Whether there may be rows after this page, and before the cursor `before` if there is one. A page of a filtered list can end early, before it is full.',
    },
    hasPreviousPageFieldOptions: {
      description:
        'Whether there may be rows before this page, and after the cursor `after` if the page was read backwards. A page of a filtered list that is read backwards can end early, before it is full.',
    },
    startCursorFieldOptions: {
      description:
        'The cursor of the first row. If a page was read backwards and ended early, the cursor to continue from. Null if there is neither.',
    },
    endCursorFieldOptions: {
      description:
        'The cursor of the last row. If the page ended early, the cursor to continue from. Null if there is neither.',
    },
    edgesFieldOptions: {
      description: 'The rows of the page, each with its cursor.',
      nullable: { list: false, items: false },
    },
    nodeFieldOptions: { description: 'The row.', nullable: false },
    cursorFieldOptions: { description: 'The position of the row in this list, for `after` or `before`.' },
    pageInfoFieldOptions: {
      description: 'Whether there are pages before and after this one, and the cursors at its ends.',
    },
  },
  directives: { useGraphQLToolsUnorderedDirectives: true },
  scopeAuth: {
    authScopes: ({ principal }) => ({
      token: principal !== undefined,
      anyOf: (scopes) => scopes.some((scope) => principal?.scopes.has(scope) ?? false),
    }),
    unauthorizedError: (_parent, context) =>
      context.principal
        ? new AppError('forbidden', 'The access token lacks a scope that this field needs.')
        : new AppError('unauthenticated', noTokenMessage),
  },
});

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description:
      'The number of rows on all pages that match the filter; a lower bound if `totalCountIsExact` is false. It is counted only if it is selected.',
    resolve: async (connection) => (await connection.total()).count,
  }),
);

builder.globalConnectionField('totalCountIsExact', (t) =>
  t.boolean({
    description:
      'Whether `totalCount` is the exact number of rows. If not, counting stopped early, and there are at least as many rows as `totalCount`.',
    resolve: async (connection) => (await connection.total()).isExact,
  }),
);
