import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readDockerfile, type Stage, variablesOf } from './dockerfile.ts';

// What a container runtime does, with util-linux: namespaces for mounts and processes, another root, another user. The
// files of the base image are those of this machine, which is Debian 12 too, with the pinned Node in place of its own.

const repository = resolve(import.meta.dirname, '../..');

/** An image: its files, and how its process is started. */
export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly stopSignal: NodeJS.Signals;
}

const linked = ['bin', 'sbin', 'lib', 'lib64'];

/** The lines of a shell that put the base image and an empty /tmp into a root. */
function mounts(root: string, isReadOnly: boolean, volumes: Readonly<Record<string, string>>): string {
  const lines = [
    'set -e',
    `mount --bind ${root} ${root}`,
    ...['usr', 'etc'].flatMap((name) => [
      `mount --bind /${name} ${root}/${name}`,
      `mount -o remount,bind,ro ${root}/${name}`,
    ]),
    `mount --bind ${process.execPath} ${root}/usr/bin/node`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    ...Object.entries(volumes).map(([path, from]) => `mount --bind ${from} ${root}${path}`),
    ...(isReadOnly ? [`mount -o remount,bind,ro ${root}`] : []),
  ];
  return lines.join('\n');
}

function makeRoot(root: string): void {
  for (const path of ['usr', 'etc', 'proc', 'dev', 'tmp', 'root'])
    mkdirSync(join(root, path), { recursive: true });
  for (const name of linked) if (!existsSync(join(root, name))) symlinkSync(`usr/${name}`, join(root, name));
}

const inNamespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private'];
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Builds an image by doing what its Dockerfile says, and returns how its last stage is run. */
export function buildImage(dockerfile: string, folder: string): Image {
  const stages = readDockerfile(readFileSync(dockerfile, 'utf8'));
  const roots = new Map<string, string>();
  let image: Image | undefined;
  for (const [index, stage] of stages.entries()) {
    const root = join(folder, `stage-${index}`);
    makeRoot(root);
    if (stage.name) roots.set(stage.name, root);
    image = buildStage(stage, root, roots);
  }
  if (!image) throw new Error(`${dockerfile} has no stage.`);
  return image;
}

function buildStage(stage: Stage, root: string, roots: ReadonlyMap<string, string>): Image {
  const image = {
    root,
    env: { PATH: path } as Record<string, string>,
    directory: '/',
    user: '0:0',
    entrypoint: [] as readonly string[],
    command: [] as readonly string[],
    healthcheck: [] as readonly string[],
    stopSignal: 'SIGTERM' as NodeJS.Signals,
  };
  for (const instruction of stage.instructions) {
    const { name, text, words } = instruction;
    if (name === 'WORKDIR') mkdirSync(join(root, (image.directory = text)), { recursive: true });
    else if (name === 'ENV') Object.assign(image.env, variablesOf(instruction));
    else if (name === 'COPY') copy(text.split(' '), join(root, image.directory), roots);
    else if (name === 'RUN') runInRoot(root, image.directory, image.env, text);
    else if (name === 'USER') image.user = text;
    else if (name === 'STOPSIGNAL') image.stopSignal = text as NodeJS.Signals;
    else if (name === 'ENTRYPOINT') image.entrypoint = words ?? [];
    else if (name === 'CMD') image.command = words ?? [];
    else if (name === 'HEALTHCHECK') image.healthcheck = words ?? [];
    else if (!['VOLUME', 'EXPOSE'].includes(name)) throw new Error(`This cannot be tried: ${name} ${text}`);
  }
  return image;
}

function copy(words: readonly string[], directory: string, roots: ReadonlyMap<string, string>): void {
  const [stage] = words.flatMap((word) => (word.startsWith('--from=') ? [word.slice('--from='.length)] : []));
  const paths = words.filter((word) => !word.startsWith('--'));
  const to = paths.at(-1) ?? '';
  for (const from of paths.slice(0, -1)) {
    if (stage !== undefined)
      copyTree(join(roots.get(stage) ?? '', from), join(directory, to, to === './' ? basename(from) : ''));
    else if (from === '.') copyContext(directory);
    else copyTree(join(repository, from), join(directory, from));
  }
}

function copyTree(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

/** What git knows of, less what the ignore file beside the Dockerfile leaves out. */
function copyContext(directory: string): void {
  const ignored = readFileSync(join(repository, 'deploy/Dockerfile.dockerignore'), 'utf8').split('\n');
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: repository }).toString().split('\0').filter(Boolean);
  for (const file of files) {
    const isIgnored = ignored.some((entry) => entry && (file === entry || file.startsWith(`${entry}/`)));
    if (!isIgnored && existsSync(join(repository, file)))
      copyTree(join(repository, file), join(directory, file));
  }
}

/** Runs a line of a Dockerfile as root, with the settings that npm has on this machine. */
function runInRoot(
  root: string,
  directory: string,
  env: Readonly<Record<string, string>>,
  line: string,
): void {
  const npmrc = '/root/.npmrc';
  if (existsSync(npmrc)) cpSync(npmrc, join(root, npmrc));
  const inside = ['env', '-i', ...pairs({ ...env, HOME: '/root' }), 'sh', '-c', `cd ${directory} && ${line}`];
  const script = `${mounts(root, false, {})}\nexec chroot ${root} "$@"`;
  const { status } = spawnSync('unshare', [...inNamespaces, 'sh', '-c', script, 'sh', ...inside], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  rmSync(join(root, npmrc), { force: true });
  if (status !== 0) throw new Error(`RUN ${line} ended with ${status}.`);
}

function pairs(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Directories of this machine, by their paths in the container. */
  readonly volumes?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}

/** A running container: read-only root, no capabilities, no new privileges, the user of the image. */
export class Container {
  readonly #image: Image;
  readonly #env: Readonly<Record<string, string>>;
  readonly #unshare: ChildProcess;
  readonly #ended: Promise<[number | null]>;
  #output = '';

  constructor(image: Image, { env = {}, volumes = {}, command = image.command }: RunOptions = {}) {
    this.#image = image;
    this.#env = { ...image.env, ...env };
    for (const at of Object.keys(volumes)) mkdirSync(join(image.root, at), { recursive: true });
    const script = `${mounts(image.root, true, volumes)}\nexec chroot ${image.root} "$@"`;
    const inside = this.#asUser(`cd ${image.directory} && exec "$@"`, [...image.entrypoint, ...command]);
    this.#unshare = spawn('unshare', [...inNamespaces, 'sh', '-c', script, 'sh', ...inside], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#unshare.stdout, this.#unshare.stderr])
      stream?.on('data', (data: Buffer) => (this.#output += data.toString()));
    this.#ended = once(this.#unshare, 'exit') as Promise<[number | null]>;
  }

  /** What its process has written so far. */
  get output(): string {
    return this.#output;
  }

  /** The process with the number 1 in the container, by its number outside. */
  get #pid(): number {
    const { pid = 0 } = this.#unshare;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return Number(children.split(' ')[0]);
  }

  #asUser(script: string, words: readonly string[]): string[] {
    const [uid = '0', gid = '0'] = this.#image.user.split(':');
    const limits = ['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
    const user = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...limits];
    return ['env', '-i', ...pairs(this.#env), ...user, 'sh', '-c', script, 'sh', ...words];
  }

  /** Runs a command in the container, as its user. */
  run(words: readonly string[]): { status: number | null; output: string } {
    const enter = ['--target', String(this.#pid), '--mount', '--pid', '--root'];
    const { status, stdout, stderr } = spawnSync('nsenter', [
      ...enter,
      ...this.#asUser(`cd ${this.#image.directory} && exec "$@"`, words),
    ]);
    return { status, output: `${stdout.toString()}${stderr.toString()}` };
  }

  /** Waits until the image's own check finds it healthy. */
  async untilHealthy(): Promise<void> {
    for (let left = 120; left > 0; left -= 1) {
      if (this.#unshare.exitCode !== null) break;
      if (this.run(this.#image.healthcheck).status === 0) return;
      await delay(500);
    }
    throw new Error(`The container did not become healthy:\n${this.#output}`);
  }

  /** Sends the image's stop signal to process 1 and waits for its end. */
  async stop(): Promise<{ code: number | null; ms: number }> {
    const began = performance.now();
    process.kill(this.#pid, this.#image.stopSignal);
    const [code] = await this.#ended;
    return { code, ms: performance.now() - began };
  }

  /** Waits for the end of a command that ends by itself. */
  async ended(): Promise<number | null> {
    const [code] = await this.#ended;
    return code;
  }

  /** Ends process 1 at once, and with it all others of its namespace. */
  kill(): void {
    if (this.#unshare.exitCode === null) process.kill(this.#pid, 'SIGKILL');
  }
}

/** Makes a directory of this machine that belongs to the user of the image, as a runtime makes a volume. */
export function makeVolume(at: string, image: Image): string {
  mkdirSync(at, { recursive: true, mode: 0o700 });
  execFileSync('chown', [image.user, at]);
  return at;
}
