import { describe, expect, it } from '@jest/globals';
import { greeting } from '../../src/cli/serve/greeting.ts';

const token = `wg_${'0123456789abcdef'.repeat(3)}`;
const tokenFile = "/srv/it's here/demo-token";

const hosts = [
  '127.0.0.1',
  '127.8.9.10',
  'localhost',
  '::1',
  '0.0.0.0',
  '::',
  '192.0.2.7',
  '127.example.com',
  '::2',
];
const loopbacks = new Set(hosts.slice(0, 4));
const urls = [
  'http://127.0.0.1:4000',
  'http://localhost:4000',
  'http://[::1]:4000',
  'https://work.example.com',
];

const cells = hosts.flatMap((host) =>
  urls.flatMap((url) => [true, false].map((isTty) => ({ host, url, explorer: true, isTty }))),
);

describe('the greeting of a server', () => {
  it.each(cells)('shows the token only at a terminal and a loopback address: %j', ({ host, url, isTty }) => {
    const words = greeting({ host, url, token, tokenFile, explorer: true, isTty });
    const isShown = isTty && loopbacks.has(host) && !url.startsWith('https');
    expect(words.includes(token)).toBe(isShown);
    expect(words.includes('demo-token')).toBe(!isShown);
    expect(words.split(`${url}/`)).toHaveLength(7);
    expect(words.includes(`${url}/#token=${token}\n`)).toBe(isShown);
  });

  it('names the pages, if there are any', () => {
    const words = (explorer: boolean) =>
      greeting({ host: '::1', url: 'http://[::1]:4000', token, tokenFile, explorer, isTty: true });
    for (const path of ['/dashboard', '/graphql', '/v1/docs']) {
      expect(words(true)).toContain(`http://[::1]:4000${path}\n`);
      expect(words(false)).not.toContain(`${path}\n`);
    }
  });

  it('quotes the path of the file for a shell', () => {
    const words = greeting({
      host: '::',
      url: urls[0] ?? '',
      token,
      tokenFile,
      explorer: true,
      isTty: false,
    });
    expect(words).toContain(`"Authorization: Bearer $(cat '/srv/it'\\''s here/demo-token')"`);
  });

  it('explains how to create a token if none is known', () => {
    for (const isTty of [true, false]) {
      const words = greeting({
        host: '::1',
        url: urls[0] ?? '',
        token: undefined,
        tokenFile,
        explorer: true,
        isTty,
      });
      expect(words).toContain('npx workgraph token create');
      expect(words).not.toContain('demo-token');
    }
  });
});
