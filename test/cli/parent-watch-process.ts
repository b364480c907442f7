import { whenParentIsGone } from '../../src/cli/serve/parent.ts';

// Watches its parent as a server does, without the rest of a server. It prints its pid, and exits when the callback is called.
whenParentIsGone(() => process.exit());
setInterval(() => undefined, 60_000);
process.stdout.write(`${process.pid}\n`);
