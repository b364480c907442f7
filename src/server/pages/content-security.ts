/** What a page of ours may do beyond nothing; the browser holds it to that. */
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
