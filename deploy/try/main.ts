import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse as parseYaml } from 'yaml';
import { startS3 } from '../../test/attachments/s3-server.ts';
import { Cluster } from '../../test/faults/support/cluster.ts';
import { freePort } from '../../test/support/ports.ts';
import { install } from '../../test/faults/support/tools.ts';
import { buildImage, Container, type Image, makeVolume } from './container.ts';

// Tries the files of deploy/ where no container runtime is: `npm run deploy:try`, as root on Debian. It builds the image by
// doing what its Dockerfile says, and runs it as compose.yaml does, in namespaces of its own.

const folder = mkdtempSync('/tmp/workgraph-deploy-');
chmodSync(folder, 0o755); // PostgreSQL runs as another user
const deploy = join(import.meta.dirname, '..');
const cleanUp: (() => unknown)[] = [];
let failed = 0;

/** Runs a step and says how it went; the ones after it go on. */
async function step(name: string, work: () => Promise<string> | string): Promise<void> {
  const began = performance.now();
  try {
    const found = await work();
    process.stdout.write(`ok      ${name}: ${found} (${Math.round(performance.now() - began)} ms)\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${name}: ${(error as Error).message}\n`);
  }
}

function must(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}

interface Compose {
  readonly services: Readonly<Record<string, { environment: Readonly<Record<string, string | number>> }>>;
}

/** The environment of a service of compose.yaml, with the addresses of this machine in place of those of its network. */
function composed(service: string, addresses: Readonly<Record<string, string>>): Record<string, string> {
  const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8');
  const { services } = parseYaml(text, { merge: true }) as Compose;
  const { environment = {} } = services[service] ?? {};
  const known = new Set(Object.keys(environment));
  for (const name of Object.keys(addresses))
    must(known.has(name), `compose.yaml gives ${service} no ${name}.`);
  return {
    ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
    ...addresses,
  };
}

async function ask(url: string, path: string, token: string, options: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { headers, ...options });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function tryAlone(image: Image): Promise<void> {
  const data = makeVolume(join(folder, 'data'), image);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const options = { env: { PORT: String(port), HOST: '127.0.0.1' }, volumes: { '/data': data } };
  let container = new Container(image, options);
  cleanUp.push(() => container.kill());
  await step('a first start, with the embedded engine in a volume', async () => {
    await container.untilHealthy();
    return 'its HEALTHCHECK finds it healthy';
  });
  const token = () => readFileSync(join(data, 'demo-token'), 'utf8').trim();
  await step('the first request', async () => {
    const { status, body } = await ask(url, '/v1/teams?page_size=2', token());
    must(status === 200, `it was answered ${status}`);
    const [team] = body.results as { id: string }[];
    const issue = JSON.stringify({ teamId: team?.id, title: 'Kept', description: '', priority: 0 });
    const created = await ask(url, '/v1/issues', token(), { method: 'POST', body: issue });
    must(created.status === 201, `the creation was answered ${created.status}`);
    return 'a list is read and an issue is created';
  });
  await step('its user', () => {
    const { output } = container.run(['sh', '-c', 'id -u; grep -E "CapEff|NoNewPrivs" /proc/1/status']);
    must(
      output.startsWith('1000\n') && /CapEff:\s+0+\n/.test(output) && /NoNewPrivs:\s+1/.test(output),
      output,
    );
    return 'uid 1000, no capabilities, no new privileges';
  });
  await step('its root', () => {
    const { status } = container.run(['sh', '-c', 'touch /app/here || touch /here']);
    must(status !== 0, 'a file could be written');
    return 'read-only';
  });
  await step('SIGTERM to process 1', async () => {
    const { code, ms } = await container.stop();
    must(code === 0 && ms < 10_000, `it ended with ${code} after ${Math.round(ms)} ms`);
    return `it ends with 0 after ${Math.round(ms)} ms`;
  });
  await step('a second start with the volume', async () => {
    container = new Container(image, options);
    await container.untilHealthy();
    const { body } = await ask(url, '/v1/issues?sort=created&direction=desc&page_size=1', token());
    must(JSON.stringify(body).includes('"Kept"'), 'the issue is gone');
    await container.stop();
    return 'the issue is still there';
  });
}

async function tryTogether(image: Image): Promise<void> {
  const primary = await Cluster.create(join(folder, 'primary'), {
    wal_level: 'replica',
    max_wal_senders: '4',
  });
  cleanUp.push(() => primary.stop());
  const s3 = await startS3();
  cleanUp.push(() => s3.stop());
  const redisPort = await freePort();
  const redis = spawn(
    'redis-server',
    ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  cleanUp.push(() => redis.kill());
  const addresses = {
    DATABASE_URL: primary.url,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    STORAGE_URL: s3.storageUrl,
    SIGNING_KEYS: 'a-key-for-the-trial-of-the-deployment-files',
    TRUSTED_PROXIES: '127.0.0.1',
  };
  const proxyPort = await freePort();
  const url = `http://127.0.0.1:${proxyPort}`;
  const env = { ...composed('one', { ...addresses, PUBLIC_URL: url }), HOST: '127.0.0.1' };
  const data = makeVolume(join(folder, 'empty'), image);
  const command = async (words: readonly string[]) => {
    const container = new Container(image, { env, command: words, volumes: { '/data': data } });
    const code = await container.ended();
    must(code === 0, `${words.join(' ')} ended with ${code}: ${container.output}`);
    return container.output;
  };
  await step('the migration job', async () => {
    await command(['migrate']);
    return 'it ends with 0';
  });
  let token = '';
  await step('a workspace and a token', async () => {
    const made = await command(['seed', '--json']);
    token = /"token":\s*"([^"]+)"/.exec(made)?.[1] ?? '';
    must(token !== '', made);
    return 'made by a command in the image';
  });
  const ports = [await freePort(), await freePort()];
  const start = (port: number | undefined, index: number) =>
    new Container(image, {
      env: { ...env, PORT: String(port) },
      volumes: { '/data': makeVolume(join(folder, `server-${index}`), image) },
    });
  const servers = ports.map(start);
  cleanUp.push(() => servers.forEach((server) => server.kill()));
  const haproxy: ChildProcess = spawn('haproxy', ['-db', '-q', '-f', join(deploy, 'haproxy.cfg')], {
    stdio: 'inherit',
    env: {
      ...process.env,
      LISTEN: `127.0.0.1:${proxyPort}`,
      SERVER_ONE: `127.0.0.1:${ports[0]}`,
      SERVER_TWO: `127.0.0.1:${ports[1]}`,
    },
  });
  cleanUp.push(() => haproxy.kill('SIGKILL'));
  await step('two servers behind haproxy', async () => {
    for (const server of servers) await server.untilHealthy();
    for (let left = 100; left > 0; left -= 1) {
      const status = await fetch(`${url}/readyz`).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) return 'ready through the proxy';
      await delay(100);
    }
    throw new Error('the proxy finds none of them');
  });
  await step('a rolling restart under load', async () => {
    let done = 0;
    const over = new AbortController();
    const refused = new Map<number, number>();
    const load = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        const { status } = await ask(url, '/v1/issues?page_size=5', token).catch(() => ({ status: 0 }));
        if (status === 200) done += 1;
        else refused.set(status, (refused.get(status) ?? 0) + 1);
      }
    });
    const exits: number[] = [];
    for (const [index, server] of servers.entries()) {
      const { code, ms } = await server.stop();
      must(code === 0, `server ${index} ended with ${code}: ${server.output}`);
      exits.push(Math.round(ms));
      servers[index] = start(ports[index], index);
      await servers[index]?.untilHealthy();
      await delay(2_000); // as docs/deployment.md does
    }
    over.abort();
    await Promise.all(load);
    must(refused.size === 0, `of ${done} requests failed: ${JSON.stringify([...refused])}`);
    return `${done} requests, 0 failed; ends after ${exits.join(' and ')} ms`;
  });
  await step('a file, announced to one server, sent through haproxy and read from the other', async () => {
    const [one, two] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string];
    const { body } = await ask(one, '/v1/issues?page_size=1', token);
    const [issue] = body.results as { key: string }[];
    const path = `/v1/issues/${issue?.key}/attachments`;
    const bytes = 'The bytes of a file';
    const file = { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: bytes.length };
    const announced = await ask(one, path, token, { method: 'POST', body: JSON.stringify(file) });
    must(announced.status === 201, `the announcement was answered ${announced.status}`);
    const { uploadUrl, attachment } = announced.body as { uploadUrl: string; attachment: { id: string } };
    must(uploadUrl.startsWith(url), `the signed address is ${uploadUrl}`);
    const sent = await fetch(uploadUrl, { method: 'PUT', body: bytes });
    must(sent.status === 204, `the upload was answered ${sent.status}`);
    const headers = { Authorization: `Bearer ${token}` };
    const read = await fetch(`${two}${path}/${attachment.id}/content`, { headers });
    must((await read.text()) === bytes, `the download was answered ${read.status}`);
    return 'equal';
  });
  await step('a streaming standby that answers queries', () => tryStandby(image, { primary, env, token }));
}

async function tryStandby(
  image: Image,
  { primary, env, token }: { primary: Cluster; env: Record<string, string>; token: string },
): Promise<string> {
  const standby = await primary.standby(join(folder, 'standby'));
  cleanUp.push(() => standby.stop());
  const [port, metricsPort] = [await freePort(), await freePort()];
  const server = new Container(image, {
    env: {
      ...env,
      PORT: String(port),
      METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
      READ_DATABASE_URLS: standby.url,
    },
    volumes: { '/data': makeVolume(join(folder, 'reading'), image) },
  });
  cleanUp.push(() => server.kill());
  await server.untilHealthy();
  const url = `http://127.0.0.1:${port}`;
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{replica="1"\\} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const until = async (holds: () => Promise<boolean>, what: string) => {
    for (let left = 200; left > 0; left -= 1) {
      if (await holds()) return;
      await delay(50);
    }
    throw new Error(what);
  };
  await until(async () => (await metric('workgraph_replica_serves')) === 1, 'the standby does not serve');
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const { body: teams } = await ask(url, '/v1/teams?page_size=1', token);
  const [team] = teams.results as { id: string }[];
  const issue = JSON.stringify({ teamId: team?.id, title: 'Replicated', description: '', priority: 0 });
  const created = await fetch(`${url}/v1/issues`, { method: 'POST', headers, body: issue });
  const seen = created.headers.get('x-workgraph-consistency') ?? '';
  const { key } = (await created.json()) as { key: string };
  const readsBefore = await metric('workgraph_replica_reads_total');
  const read = async () => {
    const answer = await fetch(`${url}/v1/issues/${key}`, {
      headers: { ...headers, 'X-Workgraph-Consistency': seen },
    });
    must(answer.status === 200, `the new issue was answered ${answer.status}`);
    return (await metric('workgraph_replica_reads_total')) > readsBefore;
  };
  await until(read, 'the standby answered nothing');
  await standby.promote();
  await until(
    async () => (await metric('workgraph_replica_serves')) === 0,
    'a standby serves that was promoted',
  );
  must((await ask(url, `/v1/issues/${key}`, token)).status === 200, 'the primary does not answer');
  return 'it shows a new issue to the client that created it, and serves nothing after a promotion';
}

async function main(): Promise<void> {
  must(process.getuid?.() === 0, 'Namespaces need root.');
  const missing = install(['haproxy']);
  must(missing.length === 0, `Install ${missing.join(', ')}.`);
  let image: Image | undefined;
  await step('the build of the image', () => {
    image = buildImage(join(deploy, 'Dockerfile'), folder);
    const size = execFileSync('du', ['-sm', join(image.root, 'app')])
      .toString()
      .split('\t')[0];
    return `${size} MB in /app`;
  });
  if (image) {
    await tryAlone(image);
    await tryTogether(image);
  }
  process.stdout.write(failed === 0 ? 'Everything works.\n' : `${failed} steps failed.\n`);
}

try {
  await main();
} finally {
  for (const undo of cleanUp.toReversed()) await undo();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
