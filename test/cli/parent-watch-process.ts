import { whenParentIsGone } from '../../src/cli/parent.ts';

// Watches its parent as a server does, without the rest of a server. It says its pid, and ends when it is called back.
whenParentIsGone(() => process.exit());
setInterval(() => undefined, 60_000);
process.stdout.write(`${process.pid}\n`);
