import { spawnSync } from 'node:child_process';

// The whole suite over each executor and each way of a POST to /graphql, on the engine that TEST_DATABASE_URL names.
// What follows the command goes to jest: `npm run test:all -- test/graph`.
const failed: string[] = [];
for (const TEST_EXECUTOR of ['compiled', 'graphql-js']) {
  for (const TEST_GRAPHQL_PATH of ['direct', 'general']) {
    const combination = `executor ${TEST_EXECUTOR}, path ${TEST_GRAPHQL_PATH}`;
    process.stdout.write(`\n== ${combination}\n`);
    const { status } = spawnSync('npm', ['test', '--', ...process.argv.slice(2)], {
      stdio: 'inherit',
      env: { ...process.env, TEST_EXECUTOR, TEST_GRAPHQL_PATH },
    });
    if (status !== 0) failed.push(combination);
  }
}
process.stdout.write(failed.length > 0 ? `\nfailed: ${failed.join('; ')}\n` : '\nall combinations passed\n');
process.exitCode = failed.length;
