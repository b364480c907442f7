import type { Violations } from './errors.ts';
import { checkText, limits } from './write-rules.ts';

const pattern = /^https?:\/\/(?<userinfo>[^/?#\s\\]*@)?[^/?#@\s\\]+(?<rest>[^\s\\]*)$/i;

/** An http or https URL as it was given, trimmed, and in the form that equivalent ones share; else a violation. */
export function parseUrl(
  violations: Violations,
  field: string,
  text: string,
): { url: string; normalized: string } {
  const url = text.trim();
  const found = pattern.exec(url);
  checkText(violations, field, url, { min: 1, max: limits.url });
  if (url !== '' && (!found || !URL.canParse(url))) violations.add(field, 'must be an http or https URL');
  return { url, normalized: found && URL.canParse(url) ? normalizedUrl(url, found.groups ?? {}) : url };
}

/**
 * Scheme and host in lower case, no default port, and a path if only `/`. The rest stays letter by letter: what
 * URL parsers do to it besides (dots, percent signs) may lead elsewhere on some servers.
 */
function normalizedUrl(
  url: string,
  { userinfo = '', rest = '' }: Record<string, string | undefined>,
): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${userinfo}${host}${rest.startsWith('/') ? rest : `/${rest}`}`;
}
