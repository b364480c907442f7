import type { Violations } from './errors.ts';
import { limits } from '../model/limits.ts';
import { checkText } from './writes/write-rules.ts';

/** Something of a host; that nothing stands there but a name and an @, `URL` finds out. */
const form = /^https?:\/\/@*[^/?#@\s\\][^\s\\]*$/i;

/** An http or https URL as it was given, trimmed, and in the form that equivalent ones share; else a violation. */
export function parseUrl(
  violations: Violations,
  field: string,
  text: string,
): { url: string; normalized: string } {
  const url = text.trim();
  const isUrl = form.test(url) && URL.canParse(url);
  checkText(violations, field, url, { min: 1, max: limits.url });
  if (url !== '' && !isUrl) violations.add(field, 'must be an http or https URL');
  return { url, normalized: isUrl ? normalizedUrl(url) : url };
}

/**
 * Scheme and host in lower case, no default port, and a path if only `/`. The rest stays letter by letter: what
 * URL parsers do to it besides (dots, percent signs) may lead elsewhere on some servers.
 */
function normalizedUrl(url: string): string {
  const { protocol, host } = new URL(url);
  const address = url.slice(url.indexOf('//') + 2);
  const end = address.search(/[/?#]|$/);
  const userinfo = address.slice(0, address.lastIndexOf('@', end - 1) + 1);
  const rest = address.slice(end);
  return `${protocol}//${userinfo}${host}${rest.startsWith('/') ? rest : `/${rest}`}`;
}
