import { makeTemplate } from './templates.ts';

// `global-setup.ts` starts this as a separate process, which makes the template that most test files copy.
await makeTemplate('migrated');
