import { type Principal, scopes as allScopes } from '../resolvers/context.ts';
import { AccessToken } from './access-tokens.ts';
import { builder } from './builder/builder.ts';
import { Member } from './members.ts';
import { RateLimit } from './rate-limit.ts';
import { Workspace } from './workspaces.ts';

export const Viewer = builder.objectRef<Principal>('Viewer');

Viewer.implement({
  description: 'The member and the access token that make the request.',
  scope: 'inherited',
  fields: (t) => ({
    member: t.reference(Member, 'userAccountId', {
      by: 'userAccountId',
      description: 'The member that the token belongs to.',
    }),
    workspace: t.reference(Workspace, 'workspaceId', { description: 'The workspace of the token.' }),
    accessToken: t.reference(AccessToken, 'tokenId', { description: 'The token itself.' }),
    rateLimit: t.computedForViewer({
      type: RateLimit,
      columns: [],
      compute: (_viewer, _references, { rateLimit }) => rateLimit,
      description: 'What the token may still do before requests are refused with RATE_LIMITED.',
    }),
    scopes: t.computed({
      type: ['String'],
      columns: ['scopes'],
      compute: ({ scopes }) => [...scopes],
      description: `The scopes of the token, at most ${allScopes.length}.`,
    }),
  }),
});
