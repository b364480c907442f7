import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { print } from 'graphql';
import { connect } from '../../src/client/client.ts';
import {
  CommentCreateDocument,
  LiveIssuesDocument,
  OpenIssuesDocument,
} from '../../src/client/documents.generated.ts';
import {
  type Manifest as ServerManifest,
  parseManifest,
  printManifest,
} from '../../src/executor/documents/manifest.ts';
import { numberAll } from '../live/logged.ts';
import { type App, startApp } from '../support/app.ts';
import { failureOf } from './failure-of.ts';

const viewer = '{ viewer { member { displayName } } }';
/** As files: with comments, and with fragments before what uses them. */
const texts = [
  ...[CommentCreateDocument, LiveIssuesDocument, OpenIssuesDocument].map(({ definitions }) =>
    [...definitions]
      .reverse()
      .map((definition) => `# A part\n${print(definition)}\n`)
      .join('\n'),
  ),
  `${viewer}\n`,
];
const printed = printManifest(texts);
const own = Object.fromEntries(texts.map((text, index) => [`x-own:${index}`, text]));

let folder: string;
let app: App;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
  const file = join(folder, 'manifest.json');
  const hashes: ServerManifest = parseManifest(printed);
  await writeFile(file, JSON.stringify({ ...Object.fromEntries(hashes), ...own }));
  app = await startApp({ demo: true, settings: { DOCUMENTS: 'trusted', DOCUMENTS_FILE: file } });
  await numberAll(app.database);
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true });
});

it.each([
  ['the command prints', JSON.parse(printed)],
  ['codegen and Relay write', own],
])(
  'a client with the manifest that %s sends ids to a server that accepts nothing else',
  async (_, documents) => {
    const workgraph = connect({ url: app.url, token: app.token, documents });
    const { workspace, issues } = await workgraph.graph.request(OpenIssuesDocument);
    expect(issues.totalCount).toBeGreaterThan(0);
    expect(await workgraph.graph.request(viewer)).toHaveProperty('viewer.member.displayName');
    const { key = '' } = issues.nodes[0] ?? {};
    const input = { issueKey: key, body: 'A comment' };
    const { commentCreate } = await workgraph.graph.request(CommentCreateDocument, { input });
    expect(commentCreate.comment.bodyText).toBe(input.body);
    const params = { path: { issueKey: key } };
    await workgraph.rest.PATCH('/v1/issues/{issueKey}', { params, body: { title: 'Another title' } });
    const live = workgraph.subscribe(LiveIssuesDocument, {}, { after: workspace.changeCursor });
    expect((await live.next()).value).toMatchObject({ reset: false, data: { issues: { issue: { key } } } });
    await live.return();
  },
);

it('a document that the manifest does not have is sent as its text', async () => {
  const unknown = '{ teams { totalCount } }';
  const workgraph = connect({ url: app.url, token: app.token, documents: own });
  const refused = await failureOf(workgraph.graph.request(unknown));
  expect(refused.message).toContain('This server accepts only the documents of its manifest');
});
