import { createAccessToken, type NewAccessToken, revokeAccessToken } from '../resolvers/access-tokens.ts';
import { scopes } from '../resolvers/context.ts';
import { AccessToken } from './access-tokens.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { naming } from './builder/naming.ts';

const AccessTokenCreateInput = builder.inputType('AccessTokenCreateInput', {
  description: 'A token to be made.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What it is to be called, 1 to 255 characters.' }),
    scopes: t.stringList({
      required: true,
      description: `What it may do, of ${scopes.map((scope) => `\`${scope}\``).join(', ')}; no more than the token that asks.`,
    }),
    memberId: t.id({
      extensions: naming('id', 'member'),
      description: 'Whom it is to stand for; the viewer when left out. Owners and admins may name others.',
    }),
    expiresUtc: t.field({
      type: 'DateTime',
      description: 'When it is to end; not later than the token that asks, and with it when left out.',
    }),
  }),
});

const AccessTokenCreatePayload = builder.objectRef<NewAccessToken>('AccessTokenCreatePayload');
AccessTokenCreatePayload.implement({
  description: 'The token that was made.',
  fields: (t) => ({
    token: t.exposeString('token', {
      description: 'Its text, to send as `Authorization: Bearer …`. It is shown this once.',
    }),
    accessToken: t.expose('accessToken', { type: AccessToken.ref, description: 'What is kept of it.' }),
  }),
});

const AccessTokenRevokeInput = builder.inputType('AccessTokenRevokeInput', {
  description: 'A token to be revoked.',
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
  fields: (t) => ({
    accessToken: t.expose('accessToken', {
      type: AccessToken.ref,
      description: 'The token, now with the time it ended.',
    }),
  }),
});

mutation('accessTokenCreate', AccessTokenCreateInput, AccessTokenCreatePayload, createAccessToken, {
  description:
    'Makes an access token that can do no more and lives no longer than the one that asks. Takes no `Idempotency-Key`.',
  scope: 'token',
  extensions: { takesNoKey: 'its answer holds a secret, which is never kept' },
});

mutation('accessTokenRevoke', AccessTokenRevokeInput, AccessTokenRevokePayload, revokeAccessToken, {
  description:
    'Revokes an access token and all tokens made with it: the token itself or one made with it; with `workspace:admin` any token of its member, and for owners and admins any token of the workspace but those of a higher role.',
  scope: 'token',
});
