import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { inProcess } from './workgraph.ts';

// What the command does on a coordinator of Citus is tried by bench/citus, because Debian has no Citus.

let app: App;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

it('is refused where there is nothing to distribute to', async () => {
  const { exitCode, stdout, stderr } = await inProcess(app, 'distribute', []);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(
    app.database.engine === 'embedded'
      ? 'The embedded engine is one process.'
      : 'The database does not have the extension citus',
  );
});
