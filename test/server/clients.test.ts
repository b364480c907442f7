import { Writable } from 'node:stream';
import { request as httpRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clients, isNetwork } from '../../src/server/http/clients.ts';
import { type App, startApp } from '../support/app.ts';

/** A request over a connection from `peer`, to this server's 192.0.2.1:4000. */
function incoming(peer: string, headers: Record<string, string>, local = '192.0.2.1') {
  const socket = { remoteAddress: peer, localAddress: local, localPort: 4000 };
  return { socket, headers } as unknown as Parameters<Clients['of']>[0];
}

const forgedHeaders = {
  host: 'evil.example',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'worse.example',
  'x-forwarded-proto': 'https',
};

describe('without trusted proxies', () => {
  const clients = new Clients({});

  it('the address of the client and that of the server are those of the connection, whatever the headers say', () => {
    expect(clients.of(incoming('198.51.100.7', forgedHeaders))).toEqual({
      address: '198.51.100.7',
      host: 'evil.example',
      origin: 'http://192.0.2.1:4000',
    });
    expect(clients.of(incoming('2001:db8::9', forgedHeaders, '2001:db8::1')).origin).toBe(
      'http://[2001:db8::1]:4000',
    );
  });

  it('absolute addresses keep the name localhost for clients on this machine', () => {
    const originFor = (host: string, local: string) =>
      clients.of(incoming('::ffff:127.0.0.1', { host }, local)).origin;
    expect(originFor('localhost:4000', '::ffff:127.0.0.1')).toBe('http://localhost:4000');
    expect(originFor('localhost:4000', '192.0.2.1')).toBe('http://192.0.2.1:4000');
    expect(originFor('localhost.evil.example:4000', '127.0.0.1')).toBe('http://127.0.0.1:4000');
  });

  it('absolute addresses begin with PUBLIC_URL if it is set', () => {
    const configured = new Clients({
      publicUrl: 'https://work.example',
      trustedProxies: ['198.51.100.0/24'],
    });
    expect(configured.of(incoming('198.51.100.7', forgedHeaders)).origin).toBe('https://work.example');
    expect(configured.of(incoming('192.0.2.8', forgedHeaders)).origin).toBe('https://work.example');
  });
});

describe('with trusted proxies', () => {
  const clients = new Clients({ trustedProxies: ['10.0.0.0/8', '2001:db8:aaaa::/48', '192.0.2.77'] });

  it.each(['10.1.2.3', '::ffff:10.1.2.3', '2001:db8:aaaa::5', '192.0.2.77'])('%s is believed', (peer) => {
    expect(clients.of(incoming(peer, forgedHeaders))).toEqual({
      address: '203.0.113.9',
      host: 'worse.example',
      origin: 'https://worse.example',
    });
  });

  it.each(['11.0.0.1', '2001:db8:aaab::5', '192.0.2.78', '127.0.0.1'])('%s is not believed', (peer) => {
    expect(clients.of(incoming(peer, forgedHeaders))).toMatchObject({
      address: peer,
      origin: 'http://192.0.2.1:4000',
    });
  });

  it('the client is the last address that is not a trusted proxy, since the client itself may have written those before it', () => {
    const addressOf = (list: string) => clients.of(incoming('10.0.0.1', { 'x-forwarded-for': list })).address;
    expect(addressOf('1.2.3.4, 198.51.100.7, 10.0.0.2')).toBe('198.51.100.7');
    expect(addressOf('198.51.100.7,10.0.0.3 ,10.0.0.2')).toBe('198.51.100.7');
    expect(addressOf('10.0.0.3, 10.0.0.2')).toBe('10.0.0.3');
    expect(addressOf('1.2.3.4, unknown, 10.0.0.2')).toBe('10.0.0.2');
    expect(addressOf('')).toBe('10.0.0.1');
    expect(addressOf('::ffff:198.51.100.7')).toBe('198.51.100.7');
  });

  it('an invalid host header is not used for addresses', () => {
    for (const host of ['a b', 'x"><script>', 'user@host', 'h/path', 'h:port', '', 'a, b c'])
      expect(clients.of(incoming('10.0.0.1', { 'x-forwarded-host': host })).origin).toBe(
        'http://192.0.2.1:4000',
      );
    const several = { 'x-forwarded-host': 'evil.example, work.example:8443', 'x-forwarded-proto': 'ftp' };
    expect(clients.of(incoming('10.0.0.1', several)).origin).toBe('http://work.example:8443');
  });
});

it('a trusted proxy may be given as a network', () => {
  expect(['10.0.0.0/8', '::1', '2001:db8::/128', '1.2.3.4'].filter((text) => !isNetwork(text))).toEqual([]);
  expect(['10.0.0/8', '::1/129', '1.2.3.4/', '1.2.3.4/-1', 'localhost', ''].filter(isNetwork)).toEqual([]);
});

describe('over connections', () => {
  let plainApp: App;
  let trustingApp: App;
  const settings = { REQUESTS_PER_MINUTE: '3' };
  const lines: string[] = [];
  beforeAll(async () => {
    const log = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    });
    plainApp = await startApp({ demo: true, log, logLevel: 'info' });
    trustingApp = await startApp({
      sharesDatabase: true,
      settings: { ...settings, TRUSTED_PROXIES: '127.0.0.0/8' },
    });
  });
  afterAll(async () => {
    await plainApp?.stop();
    await trustingApp?.stop();
  });

  /** Sends a request with any Host header, which fetch does not allow. */
  const requestWithHeaders = async <Body>(
    app: App,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ) => {
    const sent = {
      authorization: `Bearer ${app.token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    };
    const outgoing = httpRequest(new URL(path, app.url), { method: body ? 'POST' : 'GET', headers: sent });
    outgoing.end(body && JSON.stringify(body));
    return new Promise<{ link: string; body: Body }>((resolve, reject) => {
      outgoing.on('error', reject).on('response', (answer) => {
        const link = String(answer.headers.link);
        json(answer).then((read) => resolve({ link, body: read as Body }), reject);
      });
    });
  };

  it('forged headers appear in no link, signed address, page or log line', async () => {
    const { link, body } = await requestWithHeaders(plainApp, '/v1/issues?page_size=1', forgedHeaders);
    expect(link).toContain(`<${plainApp.url}/v1/issues?`);
    const query =
      '{ issues(first: 50) { nodes { attachments(first: 3) { nodes { signedDownloadUrl signedPreviewUrl } } } } }';
    const graph = await requestWithHeaders(plainApp, '/graphql', forgedHeaders, { query });
    const page = await plainApp.request('GET', '/', {
      token: null,
      headers: { ...forgedHeaders, accept: 'text/html' },
    });
    const texts = JSON.stringify([link, body, graph.body, page.body]);
    expect(texts).toContain(`${plainApp.url}/files/`);
    expect(`${texts}${lines.join('')}`).not.toMatch(/evil|worse|203\.0\.113/);
    expect(lines.join('')).toContain('"address":"127.0.0.1"');
  });

  it('a caller without a token is counted by its address, which only a trusted proxy may forward', async () => {
    const codes = async (app: App, address: string) => {
      const sent = { token: null, headers: { 'x-forwarded-for': address } };
      return (await app.request('GET', '/v1/meta/codes', sent)).status;
    };
    const statuses: number[] = [];
    for (let n = 1; n <= 5; n += 1) statuses.push(await codes(trustingApp, `198.51.100.${n}`));
    for (let n = 1; n <= 4; n += 1) statuses.push(await codes(trustingApp, `9.9.9.${n}, 203.0.113.1`));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429]);
    const direct = await startApp({ sharesDatabase: true, settings });
    try {
      const forgeries: number[] = [];
      for (let n = 1; n <= 4; n += 1) forgeries.push(await codes(direct, `198.51.100.${n}`));
      expect(forgeries).toEqual([200, 200, 200, 429]);
    } finally {
      await direct.stop();
    }
  });
});
