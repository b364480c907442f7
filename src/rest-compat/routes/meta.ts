import { CodesDocument } from '../operations.generated.ts';
import type { PathPart } from '../params.ts';
import { item } from '../replies.ts';
import { route } from '../route.ts';
import { codeTables, errorCode } from '../shapes/meta.ts';

const code: PathPart = {
  kind: 'path',
  noun: 'error code',
  pattern: /^[A-Za-z_]{1,64}$/,
  description: 'The `code` of a problem, or the same code of a GraphQL error in upper case.',
  schema: { type: 'string', pattern: '^[A-Za-z_]{1,64}$', maxLength: 64 },
};

/** GET /v1/meta/codes */
export const metaCodes = route({
  method: 'GET',
  path: '/v1/meta/codes',
  scope: 'public',
  summary: 'Lists the code tables: what the numbers and names in answers mean.',
  parameters: {},
  operation: CodesDocument,
  variables: () => ({}),
  pick: '',
  reply: item(codeTables),
});

/** GET /v1/meta/errors/{code} */
export const metaError = route({
  method: 'GET',
  path: '/v1/meta/errors/{code}',
  scope: 'public',
  summary: 'Explains an error code.',
  parameters: { code },
  operation: CodesDocument,
  variables: () => ({}),
  pick: ({ codes }, p) =>
    codes.find(({ name }) => name === 'errorCode')?.entries.find(({ name }) => name === p.code.toLowerCase()),
  reply: item(errorCode),
});
