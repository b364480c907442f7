import type { Settings } from '../../src/server/config.ts';
import { type App, startApp } from '../support/app.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import { exampleDay } from '../support/templates.ts';

/** The origin of the URLs in the examples. */
const exampleOrigin = 'https://work.example.com';

/** Serves the workspace of the examples. Requests use the token of its owner, with all scopes. */
export async function startExampleWorld(settings: Settings = {}): Promise<App> {
  const app = await startApp({
    content: 'examples',
    settings: { PUBLIC_URL: exampleOrigin, WEBHOOK_NETWORKS: '127.0.0.1', ...settings },
  });
  await storeWebhook(app.database.of(app.workspaceId), app.ownerUserAccountId, webhook);
  return app;
}

/** A webhook that sends nothing. */
const webhook = {
  webhookId: '01930c5e-7a40-7d3a-9c41-5e6f8a2b9d11',
  deliveryId: '01930c5e-7a40-7d3a-9c41-5e6f8a2b9d12',
  createdUtc: exampleDay,
};
