import { describe, expect, it } from '@jest/globals';
import { validate } from 'graphql';
import { checkScopes, InsufficientScopeError } from '../../src/executor/selections/scope-rule.ts';
import { type Principal, type Scope, scopes as allScopes } from '../../src/resolvers/context.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { schema } from '../../src/schema/index.ts';

function principalWith(scopes: readonly Scope[]): Principal {
  const ids = { workspaceId: '', userAccountId: '', memberId: '', tokenId: '' };
  return { ...ids, displayName: '', role: 1, principalKind: 1, scopes: new Set(scopes), expiresUtc: null };
}

/** Variables for operations whose scopes depend on their arguments. */
const required = {
  groupBy: [],
  every: 'week',
  from: '2026-01-01',
  to: '2026-01-31',
  timeZone: 'UTC',
  first: 1,
};

function missing({ operation, fragments }: Route, scopes: readonly Scope[]): readonly Scope[] {
  try {
    checkScopes({ schema, operation, fragments, variables: required }, principalWith(scopes));
    return [];
  } catch (error) {
    if (error instanceof InsufficientScopeError) return error.scopes;
    throw error;
  }
}

describe.each(routeTable.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    it('runs a named operation that fits the schema', () => {
      expect(validate(schema, route.document)).toEqual([]);
      expect(route.operation.name.value).not.toBe('');
    });

    it('declares exactly the scope that its operation needs', () => {
      if (route.scope === 'public') {
        expect(() => checkScopes({ schema, ...route, variables: {} }, undefined)).not.toThrow();
      } else if (route.scope !== 'token') {
        expect(
          missing(
            route,
            allScopes.filter((scope) => scope !== route.scope),
          ),
        ).toEqual([route.scope]);
        expect(missing(route, [route.scope])).toEqual([]);
      }
    });

    it('describes each parameter and each field of the body', () => {
      const words = [...Object.values(route.parameters), ...Object.values(route.body?.fields ?? {})];
      for (const { description } of words) expect(description).toMatch(/^[A-Z].+\.$/s);
      expect(route.summary).toMatch(/^[A-Z].+\.$/);
    });
  },
);
