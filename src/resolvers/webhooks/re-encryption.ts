import type { Database } from '../../db/engine/engine.ts';
import { replaceSecrets, selectSecretsUnder } from '../../db/webhook-secrets.ts';
import type { Chore } from '../housekeeping.ts';
import type { WebhookSecrets } from './secrets.ts';

/** How many webhooks are read at once. */
const webhooksPerRead = 100;

/**
 * Encrypts the secrets of webhooks with the first key that are encrypted with another, so that the others can be taken
 * out of the configuration. While some servers already have another first key and some do not, they may undo each
 * other's work, which harms nothing: all of them can read all secrets.
 */
export function secretsUnderOtherKeys(database: Database, secrets: WebhookSecrets): Chore {
  return {
    name: 'webhook secrets under other keys than the first',
    doSome: async () => {
      if (secrets.otherKeyIds.length === 0) return 0;
      let replaced = 0;
      for (const { workspaceId, ...read } of await selectSecretsUnder(
        database.unscoped,
        secrets.otherKeyIds,
        webhooksPerRead,
      )) {
        const secret = secrets.reencrypted(read.secret, read.id);
        const previousSecret = read.previousSecret && secrets.reencrypted(read.previousSecret, read.id);
        if (secret === read.secret && previousSecret === read.previousSecret) continue;
        if (await replaceSecrets(database.of(workspaceId), read, { secret, previousSecret })) replaced += 1;
      }
      return replaced;
    },
  };
}
