import { describe, expect, it } from '@jest/globals';
import { Violations } from '../../src/resolvers/errors.ts';
import { WebhookTargets } from '../../src/resolvers/webhooks/targets.ts';
import { hostileHosts } from './hostile-hosts.ts';

const problemOf = (text: string, networks: string[] = []) =>
  new WebhookTargets(networks).problemOf(new URL(text));

describe('WebhookTargets', () => {
  it.each(hostileHosts)('refuses %s in a URL', (host) => {
    expect(problemOf(`https://${host}/hook`)).toContain('not public');
    expect(problemOf(`http://${host}/hook`)).toContain('not public');
  });

  it.each(['https://example.com/hook', 'https://93.184.215.14/', 'https://[2606:4700::1111]:8443/a?b=c'])(
    'accepts %s',
    (text) => expect(problemOf(text)).toBeUndefined(),
  );

  it.each([
    ['http://example.com/', 'https://'],
    ['ftp://example.com/', 'https://'],
    ['https://user@example.com/', 'user name'],
    ['https://user:secret@example.com/', 'user name'],
    ['https://example.com/#part', 'fragment'],
    ['https://example.com:0/', 'port 0'],
  ])('refuses %s', (text, problem) => expect(problemOf(text)).toContain(problem));

  it('accepts the networks of the setting, also over http, and no others', () => {
    const networks = ['10.1.0.0/16', '::1'];
    expect(problemOf('http://10.1.2.3/hook', networks)).toBeUndefined();
    expect(problemOf('https://[::ffff:10.1.2.3]/hook', networks)).toBeUndefined();
    expect(problemOf('http://[::1]:3000/hook', networks)).toBeUndefined();
    expect(problemOf('http://10.2.0.1/hook', networks)).toContain('not public');
    expect(problemOf('http://93.184.215.14/hook', networks)).toContain('not public');
  });

  it('explains why a text is not a URL', () => {
    for (const text of [
      '',
      'nothing',
      `https://example.com/${'a'.repeat(3_000)}`,
      'https://exa\0mple.com/',
    ]) {
      const violations = new Violations();
      new WebhookTargets().check(violations, 'url', text);
      expect(violations.any).toBe(true);
    }
  });

  it('says of a URL that is too long only when it is percent-encoded that it is', () => {
    const violations = new Violations();
    new WebhookTargets().check(violations, 'url', `https://example.com/${'é'.repeat(500)}`);
    expect(() => violations.throwIfAny()).toThrow(
      expect.objectContaining({
        violations: [
          { field: 'url', message: 'must have at most 2048 characters when it is percent-encoded' },
        ],
      }),
    );
  });

  it.each([
    ['has a NUL that a URL would encode', 'https://example.com/\0'],
    ['has half a surrogate pair that a URL would replace', 'https://example.com/\uD800'],
    ['is too long and short as a URL', `https://example.com/${'a/../'.repeat(500)}`],
  ])('refuses a text that %s', (_what, text) => {
    const violations = new Violations();
    new WebhookTargets().check(violations, 'url', text);
    expect(violations.any).toBe(true);
  });
});
