import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inProcess } from '../cli/workgraph.ts';
import type { App } from './app.ts';
import { storeWebhook } from './stored-webhook.ts';

/** Fills the tables that the demo leaves empty: by an import, a token that a token created, and a write with an Idempotency-Key. */
export async function fillEveryTable(app: App): Promise<void> {
  const beads = ['bd-1', 'bd-2', 'bd-3'].map((id) =>
    JSON.stringify({
      id,
      title: `Imported ${id}`,
      status: 'open',
      created_at: new Date().toISOString(),
      created_by: 'Ada Elsewhere',
      comments: [
        { id: 1, author: 'Ada Elsewhere', text: 'From there', created_at: new Date().toISOString() },
      ],
    }),
  );
  writeFileSync(join(app.dataDir, 'beads.jsonl'), `${beads.join('\n')}\n`);
  const words = ['beads.jsonl', '--from', 'beads', '--team', 'BD', '--create-team', 'Beads'];
  const { exitCode, stderr } = await inProcess(app, 'import', words);
  if (exitCode !== 0) throw new Error(`The import failed: ${stderr}`);
  const token = await app.graphql(
    'mutation { accessTokenCreate(input: { name: "child", scopes: ["issues:read"] }) { token } }',
  );
  if (token.body.errors) throw new Error(`The token failed: ${JSON.stringify(token.body.errors)}`);
  await storeWebhook(app.database.of(app.workspaceId), app.ownerUserAccountId);
  const comment = await app.request('POST', '/v1/issues/BD-1/comments', {
    body: { body: 'Once' },
    headers: { 'Idempotency-Key': 'full-1' },
  });
  if (comment.status !== 201) throw new Error(`The comment failed: ${JSON.stringify(comment.body)}`);
}
