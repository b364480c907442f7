import { limits } from '../model/limits.ts';
import { httpUrlProblem } from '../model/text-rules.ts';
import type { Violations } from './errors.ts';

/**
 * The trimmed URL, and the normalized form that equivalent URLs share. Adds a violation if it is not an http or https
 * URL.
 */
export function parseUrl(
  violations: Violations,
  field: string,
  text: string,
): { url: string; normalized: string } {
  const url = text.trim();
  const problem = httpUrlProblem(text, limits.url);
  if (problem === undefined) return { url, normalized: normalizedUrl(url) };
  violations.add(field, problem);
  return { url, normalized: url };
}

/**
 * The URL with scheme and host in lower case, without a default port, and with a path, at least `/`. The rest is not
 * changed: other normalizations of URL parsers (dots, percent signs) could make it a different URL for some servers.
 */
function normalizedUrl(url: string): string {
  const { protocol, host } = new URL(url);
  const address = url.slice(url.indexOf('//') + 2);
  const end = address.search(/[/?#]|$/);
  const userinfo = address.slice(0, address.lastIndexOf('@', end - 1) + 1);
  const rest = address.slice(end);
  return `${protocol}//${userinfo}${host}${rest.startsWith('/') ? rest : `/${rest}`}`;
}
