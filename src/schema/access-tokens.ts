import { scopes as allScopes } from '../resolvers/context.ts';
import { type Entity, entity } from './builder/entity.ts';
import { Member } from './members.ts';

/** The root fields `accessTokens` and `node` return only the tokens that `reachableTokens` allows. */
export const AccessToken: Entity<'accessToken'> = entity('AccessToken', {
  table: 'accessToken',
  prefix: 'token',
  singular: 'access token',
  plural: 'access tokens',
  description:
    'A bearer token with its member, scopes and expiry. Its secret is shown only once, when it is created.',
  scope: 'token',
  orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'CREATED', direction: 'desc' },
  filter: (f) => ({
    id: f.id('token'),
    userAccountId: f.id('user', 'userAccountId'),
    createdUtc: f.time('createdUtc'),
    expiresUtc: f.time('expiresUtc'),
    revokedUtc: f.time('revokedUtc'),
  }),
});

AccessToken.implement((t) => ({
  name: t.exposeString('name', { description: 'The name by which people recognize the token.' }),
  scopes: t.exposeStringList('scopes', {
    description: `Its scopes, such as \`issues:read\`; at most ${allScopes.length}.`,
  }),
  userAccountId: t.idOf('user', 'userAccountId', { description: 'The account that the token belongs to.' }),
  member: t.reference(Member, 'userAccountId', {
    by: 'userAccountId',
    description: 'The member that the token belongs to.',
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was created.' }),
  expiresUtc: t.expose('expiresUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it expires; null if it never does.',
  }),
  lastUsedUtc: t.expose('lastUsedUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was last used, to the minute; null if it never was.',
  }),
  revokedUtc: t.expose('revokedUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was revoked; null if it was not.',
  }),
}));
