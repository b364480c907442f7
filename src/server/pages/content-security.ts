/** The content security policy of a page: everything that it does not name is forbidden. */
export function contentSecurityPolicy(allowed: Readonly<Record<string, string>>): string {
  const directives = {
    'default-src': "'none'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    ...allowed,
  };
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ');
}

/** The policy of our own pages: they use only this server, and have no inline scripts. */
export const pagePolicy = contentSecurityPolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
});
