import { scopes as allScopes } from '../resolvers/context.ts';
import { type Entity, entity } from './builder/entity.ts';
import { Member } from './members.ts';

/** The root `accessTokens` and `node` show only the tokens that `reachableTokens` allows. */
export const AccessToken: Entity<'accessToken'> = entity('AccessToken', {
  table: 'accessToken',
  prefix: 'token',
  singular: 'access token',
  plural: 'access tokens',
  description:
    'A bearer token: who it stands for, what it may do and for how long. Its text is shown once, when it is made.',
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
  name: t.exposeString('name', { description: 'What it is called, so that people know it again.' }),
  scopes: t.exposeStringList('scopes', {
    description: `What it may do, such as \`issues:read\`; at most ${allScopes.length} things.`,
  }),
  userAccountId: t.idOf('user', 'userAccountId', { description: 'The account that it stands for.' }),
  member: t.reference(Member, 'userAccountId', {
    by: 'userAccountId',
    description: 'The member that it stands for.',
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was made.' }),
  expiresUtc: t.expose('expiresUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it ends; null for never.',
  }),
  lastUsedUtc: t.expose('lastUsedUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was last used, to the minute.',
  }),
  revokedUtc: t.expose('revokedUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was revoked; null when it was not.',
  }),
}));
