import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { exitCodes } from '../../src/cli/failures.ts';
import { stopWithinMs } from '../../src/cli/serve/stop-limits.ts';
import { readConfig } from '../../src/server/config.ts';
import { settingNames } from '../../src/server/settings.ts';

// `npm run deploy:try` runs the files of deploy/. The suite only checks that the settings, paths and probes that they name exist.
const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8');

interface Service {
  environment?: Record<string, unknown>;
  stop_grace_period?: string;
}
const compose = parse(read('compose.yaml'), { merge: true }) as { services: Record<string, Service> };

interface Manifest {
  kind: string;
  data?: Record<string, unknown>;
  stringData?: Record<string, unknown>;
  spec?: { template: { spec: Pod } };
}
interface Pod {
  terminationGracePeriodSeconds?: number;
  containers: {
    args: string[];
    startupProbe: Probe;
    livenessProbe: Probe;
    readinessProbe: Probe;
  }[];
}
interface Probe {
  httpGet: { path: string };
  periodSeconds: number;
  failureThreshold: number;
}
const manifests = globSync('deploy/kubernetes/*.yaml', { cwd: root }).flatMap((path) =>
  parseAllDocuments(readFileSync(join(root, path), 'utf8')).map((document) => document.toJS() as Manifest),
);
const known = new Set<string>(settingNames);
/** How long a server may take to stop, in seconds (docs/operations.md). */
const stopSeconds = (drainMs: number) => (drainMs + stopWithinMs.worker) / 1_000;
/** The maximum of the setting. */
const maxDrainMs = 7_999;

describe('compose.yaml', () => {
  it.each(['migrate', 'one', 'two'])('sets only settings that exist for %s', (name) => {
    const names = Object.keys(compose.services[name]?.environment ?? {});
    expect(names.filter((each) => !known.has(each))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'STORAGE_URL', 'SIGNING_KEYS', 'REDIS_URL']),
    );
  });

  it('gives a server the time that it needs to stop', () => {
    const { environment, stop_grace_period: grace = '' } = compose.services['one'] ?? {};
    expect(parseInt(grace, 10)).toBeGreaterThan(stopSeconds(Number(environment?.['DRAIN_MS'])));
  });

  it('gives haproxy every address that its configuration reads', () => {
    const references = read('haproxy.cfg').matchAll(/"\$\{(\w+)\}"/g);
    const names = Array.from(references, ([, name = '']) => name);
    const variables = Object.keys(compose.services['haproxy']?.environment ?? {});
    expect(new Set(variables)).toEqual(new Set(names));
  });

  it('lets a server drain for longer than haproxy needs to see it', () => {
    const [, interval = '', failures = ''] = /inter (\d+)ms fall (\d+)/.exec(read('haproxy.cfg')) ?? [];
    expect(Number(compose.services['one']?.environment?.['DRAIN_MS'])).toBeGreaterThan(
      Number(interval) * (Number(failures) + 1),
    );
  });
});

describe('haproxy.cfg', () => {
  const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
  const check = (server: string) =>
    spawnSync('haproxy', ['-c', '-q', '-f', join(root, 'deploy/haproxy.cfg')], {
      env: { ...process.env, LISTEN: '127.0.0.1:4000', SERVER_ONE: server, SERVER_TWO: server },
      encoding: 'utf8',
    });

  (hasHaproxy ? it : it.skip)(
    'is accepted by haproxy, even while the name of a server has no address',
    () => {
      expect(check('127.0.0.1:4000')).toMatchObject({ status: 0, stderr: '' });
      expect(check('absent.invalid:4000').status).toBe(0);
    },
  );
});

describe('the Kubernetes manifests', () => {
  const values = manifests.flatMap(({ data, stringData }) => Object.entries({ ...data, ...stringData }));
  const pods = manifests.flatMap(({ spec }) => (spec && 'template' in spec ? [spec.template.spec] : []));
  const servers = pods.filter(({ containers }) => containers[0]?.args[0] === 'serve');

  it('set only settings that exist', () => {
    expect(values.length).toBeGreaterThan(5);
    expect(values.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
  });

  it('let no server start until TRUSTED_PROXIES says which proxies it may trust', () => {
    const { TRUSTED_PROXIES } = Object.fromEntries(values) as Record<string, string>;
    expect(() => readConfig({}, { TRUSTED_PROXIES })).toThrow('TRUSTED_PROXIES must be');
  });

  it('use probes that exist, and remove a server from the service before it stops', () => {
    const drainMs = Number(Object.fromEntries(values)['DRAIN_MS']);
    expect(servers).toHaveLength(1);
    for (const { containers, terminationGracePeriodSeconds = 0 } of servers)
      for (const { startupProbe, livenessProbe, readinessProbe } of containers) {
        expect(startupProbe.httpGet.path).toBe('/healthz');
        expect(livenessProbe.httpGet.path).toBe('/healthz');
        expect(readinessProbe.httpGet.path).toBe('/readyz');
        const untilUnready = readinessProbe.periodSeconds * readinessProbe.failureThreshold;
        expect(drainMs / 1_000).toBeGreaterThan(untilUnready);
        expect(terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds(drainMs));
      }
  });
});

describe('every way to start the server', () => {
  const { scripts } = parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const flags = scripts['start']?.match(/--max-[\w-]+=\d+/g) ?? [];

  it.each([
    ['Dockerfile', (flag: string) => `"${flag}"`],
    ['workgraph.service', (flag: string) => flag],
  ] as const)('sets the heap limits of npm start in %s', (path, writtenAs) => {
    expect(flags).toHaveLength(2);
    for (const flag of flags) expect(read(path)).toContain(writtenAs(flag));
  });
});

describe('workgraph.service', () => {
  it('gives a server the time that it needs to stop, whatever its environment file sets', () => {
    expect(readConfig({ DRAIN_MS: String(maxDrainMs) }, {}).drainMs).toBe(maxDrainMs);
    expect(() => readConfig({ DRAIN_MS: String(maxDrainMs + 1) }, {})).toThrow(`to ${maxDrainMs}`);
    const [, seconds] = /TimeoutStopSec=(\d+)/.exec(read('workgraph.service')) ?? [];
    expect(Number(seconds)).toBeGreaterThan(stopSeconds(maxDrainMs));
  });

  it('does not restart a server whose settings are invalid', () => {
    expect(read('workgraph.service')).toContain(`\nRestartPreventExitStatus=${exitCodes.usage}\n`);
  });

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  (hasSystemd ? it : it.skip)('is accepted by systemd', () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', join(root, 'deploy/workgraph.service')]);
    // It also complains that the program is missing, which is not installed here.
    const messages = stderr
      .toString()
      .split('\n')
      .filter((line) => line && !line.includes('is not executable'));
    expect(messages).toEqual([]);
  });
});

it('git and the image both leave out the secrets of compose.yaml', () => {
  for (const path of ['../.gitignore', 'Dockerfile.dockerignore'])
    expect(read(path).split('\n')).toContain('deploy/.env');
});
