import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { citusOptions } from '../../bench/citus/options.ts';
import { type App, startApp } from '../support/app.ts';
import { inProcess } from './workgraph.ts';

// What the command does on a coordinator of Citus is tried by bench/citus, because Debian has no Citus.

let app: App;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

it('distribute is refused if the database has no servers to distribute to', async () => {
  const { exitCode, stdout, stderr } = await inProcess(app, 'distribute', []);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(
    app.database.engine === 'embedded'
      ? 'The embedded engine is one process.'
      : 'The database does not have the extension citus',
  );
});

it.each(['onyl', ''])('`npm run citus` refuses --faults %j, and names what there is', (faults) => {
  expect(() => citusOptions(['--built', '/tmp/citus', '--faults', faults])).toThrow(
    `--faults is also, only, none, not "${faults}".`,
  );
});

it('`npm run citus` runs the faults after the suites, alone or not at all', () => {
  const read = (...args: string[]) => citusOptions(['--built', '/tmp/citus', ...args]);
  expect(read('test/rest')).toEqual({ built: '/tmp/citus', faults: 'also', names: ['test/rest'] });
  expect(read('--faults', 'only').faults).toBe('only');
  expect(read('--faults', 'none').faults).toBe('none');
  expect(read('--faults', 'only', 'network').names).toEqual(['network']);
  expect(() => read('--faults', 'only', 'flood')).toThrow(
    'There is no fault flood on Citus; there are server-killed, ',
  );
  expect(() => citusOptions([])).toThrow('--built is the tree');
});
