/** What every answer has, whoever makes it: a page or a file of ours puts a policy of its own in the place of these. */
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

/** The same where clients reach the service over TLS: they are to come so for a year, whatever a link says. */
const overTls = { ...always, 'Strict-Transport-Security': 'max-age=31536000' } as const;

/** The headers that keep a browser from making more of an answer than it is. */
export function securityHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  return origin?.startsWith('https:') ? overTls : always;
}
