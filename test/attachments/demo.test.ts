import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { seedDemo } from '../../src/cli/seed-demo.ts';
import { systemActor } from '../../src/resolvers/audit.ts';
import { type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

interface DemoFile {
  fileName: string;
  sizeBytes: number;
  previewKind: string;
  signedDownloadUrl: string;
  signedPreviewUrl: string | null;
}

it('has the bytes of all its files, and shows each as its row says', async () => {
  const seeded = await seedDemo(app.database, { store: app.store, actor: systemActor });
  const token = await app.tokenFor({ workspace: { ...seeded, token: '' } });
  const { body } = await app.graphql<{ issues: { nodes: { attachments: { nodes: DemoFile[] } }[] } }>(
    `{ issues(first: 250, orderBy: { field: NUMBER, direction: ASC }) { nodes { attachments { nodes {
      fileName sizeBytes previewKind signedDownloadUrl signedPreviewUrl } } } } }`,
    {},
    { token },
  );
  const files = body.data?.issues.nodes.flatMap(({ attachments }) => attachments.nodes) ?? [];
  expect(new Set(files.map(({ previewKind }) => previewKind)).size).toBe(5);
  const broken = [];
  for (const { fileName, sizeBytes, previewKind, signedDownloadUrl, signedPreviewUrl } of files) {
    const bytes = await fetch(signedDownloadUrl).then((response) => response.arrayBuffer());
    const preview = signedPreviewUrl && (await fetch(signedPreviewUrl));
    await (preview || undefined)?.arrayBuffer();
    const shown = preview ? preview.status : 'none';
    if (bytes.byteLength !== sizeBytes || shown !== (previewKind === 'NONE' ? 'none' : 200))
      broken.push({ fileName, previewKind, shown, length: bytes.byteLength });
  }
  expect(broken).toEqual([]);
}, 60_000);
