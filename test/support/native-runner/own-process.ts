import { once } from 'node:events';
import { type OwnRun, runNatively } from './run.ts';

// Runs the test file that the parent process names, and sends back the results.
const [{ globalConfig, config, testPath }] = (await once(process, 'message')) as [OwnRun];
process.send?.(await runNatively(globalConfig, config, testPath));
