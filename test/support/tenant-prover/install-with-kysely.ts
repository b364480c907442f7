import { registerHooks } from 'node:module';

// Importing this module first in a process has `install.ts` loaded together with Kysely, before any module that imports
// Kysely is evaluated. A process that never loads Kysely can send no statement, and does not load the rules, which take
// longer than all that a short command does.

const prover = new URL('./install.ts', import.meta.url).href;
const kysely = '/node_modules/kysely/';
/** Marks the module that stands for one of Kysely's. */
const proved = '?proved';

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    // Kysely's own modules, and the modules that stand for them, see it as it is.
    const isFromOutside = resolved.url.includes(kysely) && !context.parentURL?.includes(kysely);
    return isFromOutside ? { ...resolved, url: `${resolved.url}${proved}` } : resolved;
  },
  load(url, context, nextLoad) {
    if (!url.includes(kysely) || !url.endsWith(proved)) return nextLoad(url, context);
    const module = JSON.stringify(url.slice(0, -proved.length));
    // The imports are evaluated in this order, and before the module that imports this one.
    const source = `export * from ${module};\nimport ${JSON.stringify(prover)};\n`;
    return { format: 'module', source, shortCircuit: true };
  },
});
