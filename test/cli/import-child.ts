import { openDatabase } from '../../src/db/engine/engine.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { runImport } from '../../src/cli/import.ts';
import { wire } from '../support/wire.ts';
import '../support/tenant-prover/install.ts';

// Imports a file of beads into the team BD, in a process that a test can kill: database, file and workspace are arguments.
const [location = '', file = '', workspace = ''] = process.argv.slice(2);
const database = await openDatabase(
  location.startsWith('postgres') ? { url: location, wire } : { dataDir: location },
);
process.exitCode = await runImport(
  {
    database,
    dataDir: '.',
    store: openStorage({ dataDir: '.', storageUrl: undefined }),
    stdout: (text) => void process.stdout.write(text),
    drained: () => Promise.resolve(),
    stderr: (text) => void process.stderr.write(text),
    // A progress bar reports more often.
    isTty: true,
    operator: { name: 'tester', host: 'here' },
    columns: 80,
    cwd: process.cwd(),
    signal: new AbortController().signal,
  },
  { file, from: 'beads', team: 'BD', workspace, json: true },
);
await database.close();
