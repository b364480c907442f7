import {
  createAccessToken,
  type NewAccessToken,
  revokeAccessToken,
} from '../resolvers/access/access-tokens.ts';
import { limits } from '../model/limits.ts';
import { scopes } from '../resolvers/context.ts';
import { AccessToken } from './access-tokens.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { naming } from './builder/naming.ts';

const AccessTokenCreateInput = builder.inputType('AccessTokenCreateInput', {
  description: 'The access token to create.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the token, 1 to 255 characters.' }),
    scopes: t.stringList({
      required: true,
      description: `The scopes of the new token, any of ${scopes.map((scope) => `\`${scope}\``).join(', ')}. The token that makes the request must have each of them.`,
    }),
    memberId: t.id({
      extensions: naming('id', 'member'),
      description:
        'The member that the token will belong to; the viewer when omitted. Only owners and admins may choose another member.',
    }),
    expiresUtc: t.field({
      type: 'DateTime',
      description:
        'When the new token expires. It cannot outlive the token that makes the request; when omitted, both expire at the same time.',
    }),
  }),
});

const AccessTokenCreatePayload = builder.objectRef<NewAccessToken>('AccessTokenCreatePayload');
AccessTokenCreatePayload.implement({
  description: 'The new token.',
  scope: 'inherited',
  fields: (t) => ({
    token: t.exposeString('token', {
      description: 'The secret, to send as `Authorization: Bearer …`. It is shown only in this response.',
    }),
    accessToken: t.expose('accessToken', {
      type: AccessToken.ref,
      description: 'The token without its secret.',
    }),
  }),
});

const AccessTokenRevokeInput = builder.inputType('AccessTokenRevokeInput', {
  description: 'The access token to revoke.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'token'),
      description: 'The id of the token (`token_…`), not its text.',
    }),
  }),
});

const AccessTokenRevokePayload =
  builder.objectRef<Pick<NewAccessToken, 'accessToken'>>('AccessTokenRevokePayload');
AccessTokenRevokePayload.implement({
  description: 'The token that was revoked.',
  scope: 'inherited',
  fields: (t) => ({
    accessToken: t.expose('accessToken', {
      type: AccessToken.ref,
      description: 'The token, with the time at which it was revoked.',
    }),
  }),
});

mutation('accessTokenCreate', AccessTokenCreateInput, AccessTokenCreatePayload, createAccessToken, {
  description: `Creates an access token. It cannot have more scopes or a longer life than the token that makes the request. A member can have at most ${limits.accessTokens} valid tokens, and be given ${limits.accessTokensPerHour} within an hour. An \`Idempotency-Key\` is not accepted.`,
  scope: 'token',
  extensions: { takesNoKey: 'its response contains a secret, which is never stored' },
  events: { none: 'the log of changes does not record access tokens' },
});

mutation('accessTokenRevoke', AccessTokenRevokeInput, AccessTokenRevokePayload, revokeAccessToken, {
  description:
    'Revokes an access token and all tokens that were created with it. A token may revoke itself and the tokens created with it; with `workspace:admin` also any token of its member, and for owners and admins any token of the workspace except those of members with a higher role.',
  scope: 'token',
  extensions: { isRepeatableBySameTokenOnly: true },
  events: { none: 'the log of changes does not record access tokens' },
});
