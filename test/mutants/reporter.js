import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A reporter for jest that writes the result of each trial on a line of its own. */
export default class Reporter {
  #directory = process.env.MUTANTS_NOTES ?? '';

  onTestFileResult(_test, { testResults, perfStats, failureMessage }) {
    if (failureMessage?.includes('There is no time left.')) return;
    const failed = testResults.find(({ status }) => status === 'failed')?.fullName;
    const path = join(this.#directory, 'notes');
    const result = {
      ms: perfStats.runtime ?? 0,
      ...(failureMessage && { failed: failed ?? failureMessage.trim().split('\n', 1)[0], failureMessage }),
      notes: existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [],
    };
    rmSync(path, { force: true });
    appendFileSync(join(this.#directory, 'results'), `${JSON.stringify(result)}\n`);
  }
}
