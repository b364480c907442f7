import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../src/server/observability/logger.ts';
import { secretsOf, withoutSecrets } from '../../src/server/observability/redaction.ts';
import { serve, type Serving, workgraph } from '../cli/workgraph.ts';
import { hasServer, newServerDatabase, type TemporaryDatabase } from '../db/engines.ts';
import { Canaries } from '../support/canaries.ts';
import { sendRaw } from '../support/raw-http.ts';

/** The secrets of the configuration, with characters that have to be encoded in a URL. */
const passwords = {
  'database password': 'canary/Daten+bank pä55',
  'replica password': 'canary/replica+pa55',
  'store secret': 'canary+store/5ecret',
  'redis password': 'canary redis+pa55',
  'first signing key': 'canary-signing-key-one-0123456789abcdef',
  'second signing key': 'canary-signing-key-two-0123456789abcdef',
};
const encodedPassword = (name: keyof typeof passwords) => encodeURIComponent(passwords[name]);

describe('canaries', () => {
  it('are found in every form, and nowhere else', () => {
    const canaries = new Canaries(passwords);
    const secret = passwords['database password'];
    const base64 = (before: string) => Buffer.from(`${before}${secret} and more`).toString('base64');
    for (const text of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('hex').toUpperCase(),
      ...['', 'x', 'xy', 'xyz'].map(base64),
      JSON.stringify({ url: `postgres://u:${secret}@h` }),
    ])
      expect(canaries.in(`before ${text} after`)).not.toEqual([]);
    expect(canaries.in('nothing of the sort')).toEqual([]);
  });
});

describe('log lines', () => {
  it('lose tokens and the secrets of the configuration, wherever they come from', async () => {
    const stream = new PassThrough();
    const secrets = secretsOf({
      databaseUrl: `postgres://u:${encodedPassword('database password')}@h/d`,
      readDatabaseUrls: [`postgres://u:${encodedPassword('replica password')}@h/d`],
      redisUrl: `redis://:${encodedPassword('redis password')}@h`,
      storageUrl: `https://KEY:${encodedPassword('store secret')}@h/b`,
      signingKeys: [passwords['first signing key'], passwords['second signing key']],
    });
    const logger = await createLogger('info', { stream, secrets });
    const token = `wg_${'0123456789abcdef'.repeat(3)}`;
    logger.error(
      { err: new Error(`with ${token}`), deep: { passwords } },
      `${token} ${encodedPassword('database password')}`,
    );
    const line = String(stream.read());
    expect(JSON.parse(line)).toMatchObject({
      msg: 'wg_[secret] [secret]',
      err: { message: 'with wg_[secret]' },
    });
    expect(new Canaries({ token, ...passwords }).in(line)).toEqual([]);
    expect(withoutSecrets('as it is', secrets)).toBe('as it is');
  });
});

/** Starts a proxy in front of a server, which can break all its connections at once. */
async function startBreakableProxy(target: URL) {
  const sockets = new Set<Socket>();
  let isBroken = false;
  const proxy = createServer((inner) => {
    if (isBroken) return void inner.destroy();
    const outer = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => undefined)
        .on('data', (data) => to.write(data))
        .on('close', () => to.destroy());
    }
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const breakConnections = () => {
    isBroken = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    lose: breakConnections,
    close: () => (breakConnections(), proxy.close()),
  };
}

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('a server as a process (needs TEST_DATABASE_URL)', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'workgraph-canary-'));
  const canaries = new Canaries(passwords);
  /** Everything that was written to anybody but the sender of the secret: output, logs, answers. */
  const written: string[] = [];
  let temporary: TemporaryDatabase<{ url: string }>;
  let proxy: Awaited<ReturnType<typeof startBreakableProxy>>;
  let server: Serving;
  let token: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    temporary = await newServerDatabase();
    const target = new URL(temporary.location.url);
    proxy = await startBreakableProxy(target);
    const url = new URL(target);
    url.port = String(proxy.port);
    url.password = passwords['database password'];
    env = {
      DATABASE_URL: url.href,
      DATA_DIR: dataDir,
      REDIS_URL: `redis://:${encodedPassword('redis password')}@127.0.0.1:1`,
      STORAGE_URL: `http://KEY:${encodedPassword('store secret')}@127.0.0.1:1/bucket`,
      SIGNING_KEYS: `${passwords['first signing key']},${passwords['second signing key']}`,
      LOG_LEVEL: 'trace',
    };
    const migration = await workgraph(['migrate'], env);
    written.push(migration.stdout, migration.stderr);
    const creation = await workgraph(['workspace', 'create', '--name', 'Canary', '--json'], env);
    ({ token } = JSON.parse(creation.stdout) as { token: string });
    canaries.add('token', token);
    written.push(creation.stderr);
    server = await serve(['--metrics-address', '0'], env);
  });
  afterAll(async () => {
    await server?.end();
    proxy?.close();
    await temporary?.remove();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** A client that sends a token in a wrong place may get it back in its answer (`isEcho`); logs and other answers must not have it. */
  const send = async (path: string, init: RequestInit = {}, isEcho = false) => {
    const answer = await fetch(new URL(path, server.url), init);
    const body = await answer.text();
    if (!isEcho) written.push(body, JSON.stringify([...answer.headers]));
    return { status: answer.status, body };
  };
  const bearer = () => ({ authorization: `Bearer ${token}` });
  const graphql = (query: string, headers: Record<string, string> = bearer(), isEcho = false) => {
    const allHeaders = { ...headers, 'content-type': 'application/json' };
    return send('/graphql', { method: 'POST', headers: allHeaders, body: JSON.stringify({ query }) }, isEcho);
  };

  /** Sends valid and invalid requests, with the token where it belongs and in wrong places. */
  async function sendAllRequests(): Promise<number[]> {
    const statuses = [
      await send('/health'),
      await send('/readyz'),
      await send('/'),
      await send('/v1/teams', { headers: bearer() }),
      await send('/v1/teams?page_size=x', { headers: bearer() }),
      await send('/v1/issues', {
        method: 'POST',
        headers: { ...bearer(), 'content-type': 'application/json' },
        body: '{',
      }),
      await send('/v1/nowhere', { headers: bearer() }),
      await send('/v1/teams', { method: 'PURGE', headers: bearer() }),
      await send('/v1/teams', {
        headers: { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
      }),
      await send('/v1/teams', { headers: { authorization: `Bearer  ${token}x` } }),
      await graphql(
        '{ viewer { scopes accessToken { id name } } accessTokens { nodes { id name scopes } } }',
      ),
      await graphql('{ auditEntries { nodes { act actorName address changes { field before after } } } }'),
      await graphql(
        'mutation { accessTokenRevoke(input: { id: "token_00000000000000000000000000" }) { accessToken { id } } }',
      ),
      await graphql('{ nothing }'),
      await graphql('{'),
      await send(`/v1/teams?access_token=${token}`, { headers: bearer() }, true),
      await send(`/v1/teams/${token}`, { headers: bearer() }, true),
      await send(
        `/graphql?query=${encodeURIComponent(`query Q { issue(key: "${token}") { key } }`)}`,
        { headers: bearer() },
        true,
      ),
      await send('/health', { headers: { 'x-request-id': token } }, true),
      await send('/files/attachment_00000000000000000000000000/content?signature=x', { headers: bearer() }),
      await graphql(`query ${token} { viewer { scopes } }`, bearer(), true),
      await graphql(`{ ${token} }`, bearer(), true),
      await graphql('{ viewer { scopes } }', { authorization: token }, true),
      await graphql('{ viewer { scopes } }', { 'x-api-key': token }, true),
    ].map(({ status }) => status);
    const rawAnswer = await sendRaw(
      server.url,
      `GET /${token} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nBad header\r\n\r\n`,
    );
    written.push(rawAnswer.body);
    return [...statuses, rawAnswer.status];
  }

  it('writes no secret while all goes well, and when a client goes wrong', async () => {
    const statuses = await sendAllRequests();
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(5);
    expect(new Set(statuses)).toEqual(new Set([200, 400, 401, 403, 404, 405]));
    const metrics = /http:\/\/\S+\/metrics/.exec(server.log())?.[0];
    if (metrics) written.push(await (await fetch(metrics)).text());
  });

  it('writes no secret when the database is lost under it, nor when a command cannot reach it', async () => {
    proxy.lose();
    const statuses = await sendAllRequests();
    expect(statuses).toContain(503);
    for (const words of [
      ['token', 'list'],
      ['migrate'],
      ['workspace', 'create', '--name', 'x'],
      ['audit'],
      ['serve', '--port', '0'],
    ]) {
      const result = await workgraph(words, env);
      expect([words, result.exitCode]).toEqual([words, 1]);
      written.push(result.stdout, result.stderr);
    }
  });

  it.each([
    ['DATABASE_URL', `mysql://u:${passwords['store secret']}@h/d`],
    ['DATABASE_URL', `postgres://u:${encodedPassword('database password')}@localhost:99999/d`],
    ['STORAGE_URL', `ftp://KEY:${encodedPassword('store secret')}@h/b`],
    ['REDIS_URL', `http://:${encodedPassword('redis password')}@h`],
    ['SIGNING_KEYS', `${passwords['first signing key']},short`],
    ['PORT', passwords['first signing key']],
    ['DATA_DIR', '/dev/null/x'],
  ])('writes no secret when it cannot start: %s', async (name, value) => {
    const result = await workgraph(['serve'], { ...env, [name]: value });
    expect(result.exitCode).toBeGreaterThan(0);
    expect(result.stderr).not.toBe('');
    written.push(result.stdout, result.stderr);
  });

  it('has written no secret at the end: to standard output, standard error, answers, and files but those that hold them', async () => {
    await server.end();
    written.push(server.log(), server.messages());
    expect(server.log().split('\n').length).toBeGreaterThan(40);
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'end'), 'end');
    for (const name of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
      if (name.isFile()) written.push(readFileSync(join(name.parentPath, name.name), 'latin1'));
    expect(written.flatMap((text) => canaries.in(text))).toEqual([]);
  });
});
