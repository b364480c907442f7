import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ndjsonHeader } from '../cli/ndjson-header.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { inProcess } from '../cli/workgraph.ts';
import { type App, startApp } from '../support/app.ts';
import { nextListEvent, followList } from './list-events.ts';
import { numberAllChanges } from './logged.ts';

let app: App;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const before = {
  _type: 'issue',
  key: 'ENG-1',
  title: 'Moved',
  status: 'Done',
  reporter: 'Ria',
  createdUtc: '2026-01-01T00:00:00Z',
  updatedUtc: '2026-01-05T00:00:00Z',
  closedUtc: '2026-01-04T00:00:00Z',
};
/** Its reporter is the one that ENG-1 will get, so that no import adds a member while the list is followed. */
const another = { ...before, key: 'ENG-2', title: 'Another', reporter: 'Otto' };

async function importIssues(fields: Partial<typeof before> = {}): Promise<void> {
  const lines = [ndjsonHeader, { ...before, ...fields }, another].map((line) => JSON.stringify(line));
  writeFileSync(join(app.dataDir, 'moves.ndjson'), `${lines.join('\n')}\n`);
  const workspace = encodeId('workspace', app.workspaceId);
  const result = await inProcess(app, 'import', [
    'moves.ndjson',
    '--from',
    'ndjson',
    '--workspace',
    workspace,
  ]);
  if (result.exitCode !== 0) throw new Error(result.stderr);
}

async function reporterOf(key: string): Promise<string> {
  const { body } = await app.graphql<{ issue: { reporterUserAccountId: string } }>(
    'query ($key: String!) { issue(key: $key) { reporterUserAccountId } }',
    { key },
  );
  return body.data?.issue.reporterUserAccountId ?? '';
}

it.each([
  [
    'reporter',
    async () => ({ reporterUserAccountId: { eq: await reporterOf('ENG-1') } }),
    { reporter: 'Otto' },
  ],
  [
    'time of creation',
    async () => ({ createdUtc: { lt: '2026-01-02T00:00:00Z' }, number: { eq: 1 } }),
    { createdUtc: '2026-01-03T00:00:00Z' },
  ],
  [
    'time of closing',
    async () => ({ closedUtc: { lt: '2026-01-05T00:00:00Z' }, number: { eq: 1 } }),
    { closedUtc: '2026-01-06T00:00:00Z' },
  ],
])(
  'a list by the %s is told when a repeated import moves an issue out of it and into it',
  async (_, filter, fields) => {
    await importIssues();
    await numberAllChanges(app.database);
    const stream = await followList(app, app.token, { filter: await filter(), after: undefined });
    await importIssues({ ...fields, updatedUtc: '2026-02-01T00:00:00Z' });
    expect(await nextListEvent(stream)).toMatchObject({ kind: 'LEFT', issue: { key: 'ENG-1' } });
    await importIssues({ updatedUtc: '2026-02-02T00:00:00Z' });
    expect(await nextListEvent(stream)).toMatchObject({ kind: 'ENTERED', issue: { key: 'ENG-1' } });
    stream.stop();
  },
);
