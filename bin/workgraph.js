#!/usr/bin/env node
// Plain JavaScript without `node:` specifiers or top-level await: a Node far too old for the rest of the
// program must still get far enough to say so.
import { spawn } from 'child_process';
import module, { createRequire } from 'module';
import { constants } from 'os';

const needed = [22, 18];

if (isNewEnough(process.versions.node)) {
  silenceExpectedWarnings();
  // Otherwise graphql-js looks for a second copy of itself at each of its checks, and reading a document takes twice as long.
  process.env.NODE_ENV ??= 'production';
  // Halves the time that loading takes from the second start on.
  module.enableCompileCache();
  void import('../src/cli/main.ts');
} else {
  const installed = installedNode();
  if (installed && installed !== process.execPath) {
    runWith(installed);
  } else {
    console.error(
      `workgraph needs Node ${needed.join('.')} or newer; this is v${process.versions.node}. ` +
        'Run `npm ci` in its folder, then `npm start` uses the Node that `npm ci` installed there.',
    );
    process.exitCode = 1;
  }
}

function isNewEnough(version) {
  const parts = version.split('.').map(Number);
  return parts[0] > needed[0] || (parts[0] === needed[0] && parts[1] >= needed[1]);
}

/** Two experiments are chosen knowingly, type stripping and node:sqlite; every other warning stays. */
function silenceExpectedWarnings() {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    const expected = /^(Type Stripping|SQLite) is an experimental feature/.test(String(warning));
    if (!expected) emitWarning(warning, ...rest);
  };
}

/** The Node pinned in optionalDependencies, so that `npx workgraph` works on a host whose own Node is old. */
function installedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  try {
    return createRequire(import.meta.url).resolve(`node-${platform}-${process.arch}/bin/${file}`);
  } catch {
    return undefined;
  }
}

function runWith(node) {
  // The heap's limits among them.
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    // This process outlives its shell while the child runs, so the child watches the shell (src/cli/parent.ts).
    env: { ...process.env, WORKGRAPH_PARENT_PID: String(process.ppid) },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C and hang-up to both processes; twice would read as impatience.
      if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`workgraph could not start ${node}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    // A shell's convention for a process that a signal ended.
    process.exit(signal ? 128 + constants.signals[signal] : code);
  });
}
