import { spawnSync } from 'node:child_process';

/** The environment of somebody who is not inside of npm already. */
export function outsideOfNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
}

/** The first Node on the path that is too old to run the program itself. */
export function oldNode(): string | undefined {
  const found = spawnSync('which', ['-a', 'node'], { encoding: 'utf8' }).stdout.trim().split('\n');
  return found.find((file) => {
    const [major = 0, minor = 0] = spawnSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      .stdout.split('.')
      .map(Number);
    return major < 22 || (major === 22 && minor < 21);
  });
}
