import { spawnSync } from 'node:child_process';

// Runs the whole suite with each executor and each way of a POST to /graphql, on the engine that TEST_DATABASE_URL names,
// and on PostgreSQL also over the plain wire. Arguments go to jest: `npm run test:all -- test/graph`.
const combinations: Record<string, string>[] = ['compiled', 'graphql-js'].flatMap((TEST_EXECUTOR) =>
  ['direct', 'general'].map((TEST_GRAPHQL_PATH) => ({ TEST_EXECUTOR, TEST_GRAPHQL_PATH })),
);
if (process.env.TEST_DATABASE_URL) combinations.push({ WIRE: 'plain' });

const failed: string[] = [];
for (const combination of combinations) {
  const name = Object.entries(combination)
    .map(([variable, value]) => `${variable}=${value}`)
    .join(' ');
  process.stdout.write(`\n== ${name}\n`);
  const { status } = spawnSync('npm', ['test', '--', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, ...combination },
  });
  if (status !== 0) failed.push(name);
}
process.stdout.write(failed.length > 0 ? `\nfailed: ${failed.join('; ')}\n` : '\nall combinations passed\n');
process.exitCode = failed.length;
