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
import { numberAllChanges } from '../live/logged.ts';
import { type App, startApp } from '../support/app.ts';
import { failureOf } from './failure-of.ts';

const viewer = '{ viewer { member { displayName } } }';
/** The documents as files may have them: with comments, and with fragments before what uses them. */
const texts = [
  ...[CommentCreateDocument, LiveIssuesDocument, OpenIssuesDocument].map(({ definitions }) =>
    [...definitions]
      .reverse()
      .map((definition) => `# A part\n${print(definition)}\n`)
      .join('\n'),
  ),
  `${viewer}\n`,
];
const printedManifest = printManifest(texts);
const codegenManifest = Object.fromEntries(texts.map((text, index) => [`x-own:${index}`, text]));

let folder: string;
let app: App;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
  const file = join(folder, 'manifest.json');
  const hashes: ServerManifest = parseManifest(printedManifest);
  await writeFile(file, JSON.stringify({ ...Object.fromEntries(hashes), ...codegenManifest }));
  app = await startApp({ demo: true, settings: { DOCUMENTS: 'trusted', DOCUMENTS_FILE: file } });
  await numberAllChanges(app.database);
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true });
});

it.each([
  ['the command prints', JSON.parse(printedManifest)],
  ['codegen and Relay write', codegenManifest],
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

it('the client sends a document that its manifest does not have as text', async () => {
  const unknown = '{ teams { totalCount } }';
  const workgraph = connect({ url: app.url, token: app.token, documents: codegenManifest });
  const failure = await failureOf(workgraph.graph.request(unknown));
  expect(failure.message).toContain('This server accepts only the documents of its manifest');
});
