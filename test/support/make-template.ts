import { makeTemplate } from './templates.ts';

// Makes the template that most test files begin with, in a process of its own: `global-setup.ts` starts it.
await makeTemplate('migrated');
