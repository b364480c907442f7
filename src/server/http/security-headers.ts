/** The security headers of every answer. Pages and files replace the policy with their own. */
const always = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** The same for a service that clients reach over TLS. Browsers then use TLS for a year, whatever a link says. */
const overTls = { ...always, 'Strict-Transport-Security': 'max-age=31536000' } as const;

/** The headers that keep a browser from interpreting an answer as something else. */
export function securityHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  return origin?.startsWith('https:') ? overTls : always;
}
