import { Cluster } from './support/cluster.ts';
import { runFault, type Trial } from './support/fault.ts';
import { startService } from './support/scene.ts';
import { chunksOfOneByte, slowReaders, unknownTokens } from './hostile/connections.ts';
import { newDocuments } from './hostile/documents.ts';
import {
  emptyFilterParts,
  introspection,
  longTexts,
  longVariables,
  nullsOfSchema,
  statsGroups,
} from './hostile/operations.ts';
import { interlacedPictures } from './hostile/pictures.ts';
import { demoTarget, type Figure } from './hostile/target.ts';
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';

/** In the order of the findings that they repeat; each on a server of its own, so that none inherits the memory use of another. */
const attacks = [
  emptyFilterParts,
  introspection,
  statsGroups,
  slowReaders,
  interlacedPictures,
  unknownTokens,
  newDocuments,
  longTexts,
  nullsOfSchema,
  longVariables,
  chunksOfOneByte,
];

/** Another checkout to measure first, for comparison: `BASELINE=../before npm run faults hostile-clients`. */
const baseline = process.env['BASELINE'];

// Repeats the attacks by single clients that an external review of the service found.
await runFault(import.meta.filename, {
  fault: 'clients that send little and cost much',
  pass: 'no request blocks the event loop for more than 100 ms; memory grows by ≤ 250 MB; no new document is refused',
  amount: { unit: 'run', short: 1, long: 1 },
  run: async (trial) => {
    const before = baseline === undefined ? [] : await measure(trial, 'baseline', baseline);
    const now = await measure(trial, 'this checkout', undefined);
    for (const [index, { what, measured, holds }] of now.entries()) {
      const was = before[index];
      process.stdout.write(`${what}\n${was ? `  before: ${was.measured}\n` : ''}  now:    ${measured}\n`);
      trial.figure(holds, `${what}: ${measured}`);
    }
    return now.map(({ what, measured }) => `${what}: ${measured}`).join('; ');
  },
});

async function measure(trial: Trial, name: string, product: string | undefined): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const attack of attacks) {
    const folder = join(trial.folder, `${name}-${attack.name}`.replaceAll(' ', '-'));
    mkdirSync(folder);
    const cluster = await Cluster.create(join(folder, 'postgres'));
    trial.defer(() => cluster.stop());
    const service = await startService(
      { ...trial, folder },
      { databaseUrl: cluster.url, product, flags: ['--migrate', '--demo'] },
    );
    figures.push(...(await attack(demoTarget(service))));
    trial.must(service.isRunning, `${name}: the server ended during ${attack.name}: ${service.logTail()}`);
    await service.end('SIGKILL');
    await cluster.stop();
  }
  return figures;
}
