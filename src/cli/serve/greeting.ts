import { isIPv4 } from 'node:net';
import type { Config } from '../../server/config.ts';
import { tokenFileOf } from '../demo/token-file.ts';

export interface Greeting {
  /** Where clients reach the server. */
  readonly url: string;
  /** The address of the settings that the server listens on. */
  readonly host: string;
  /** The token of the demo; undefined when there is none or it is not known. */
  readonly token: string | undefined;
  /** The absolute path of the file that holds the token. */
  readonly tokenFile: string;
  /** Whether the server has pages besides the start page. */
  readonly explorer: boolean;
  /** Whether the text goes to a terminal, where only the person who started the server reads it. */
  readonly isTty: boolean;
}

/**
 * What a server prints once it is ready: its addresses, and requests to paste. The address for a browser signs in: a
 * fragment is sent to no server, and the page removes it. The demo's token has all scopes, and standard error often ends
 * up in a log. So the text of the token is printed only in a terminal, by a server that no other machine can reach;
 * otherwise the requests read it from its file.
 */
export function greeting({ url, host, token, tokenFile, explorer, isTty }: Greeting): string {
  const pages = explorer
    ? `\n  Dashboard    ${url}/dashboard\n  GraphiQL     ${url}/graphql\n  Reference    ${url}/v1/docs`
    : '';
  if (token === undefined) {
    return `
workgraph is ready at ${url}

  Browser      ${url}/${pages}
  A workspace  npx workgraph workspace create --name Acme --owner Ada   (if there is none yet)
  A token      npx workgraph token create

`;
  }
  const isShown = isTty && isLoopback(host) && isLoopback(new URL(url).hostname);
  const authorization = isShown
    ? `-H 'Authorization: Bearer ${token}'`
    : `-H "Authorization: Bearer $(cat ${quoted(tokenFile)})"`;
  const query = '{ viewer { member { displayName } workspace { name } } }';
  return `
workgraph is ready at ${url}

  Browser      ${url}/${isShown ? `#token=${token}` : ''}${pages}
  Demo token   ${isShown ? token : `in ${tokenFile}`}

  GraphQL      curl ${url}/graphql ${authorization} \\
                 -H 'Content-Type: application/json' -d '${JSON.stringify({ query })}'
  REST         curl '${url}/v1/teams?page_size=5' ${authorization}

`;
}

/** Prints how to use a server that is ready. */
export function printGreeting(
  { publicUrl, host, dataDir, explorer }: Pick<Config, 'publicUrl' | 'host' | 'dataDir' | 'explorer'>,
  serverUrl: string,
  token: string | undefined,
): void {
  const url = publicUrl ?? serverUrl;
  const { isTTY: isTty } = process.stderr;
  process.stderr.write(greeting({ url, host, token, tokenFile: tokenFileOf(dataDir), explorer, isTty }));
}

/** Tells whether only this machine can reach the address. */
function isLoopback(host: string): boolean {
  return (
    (isIPv4(host) && host.startsWith('127.')) || ['localhost', '::1', '[::1]'].includes(host.toLowerCase())
  );
}

/** Quotes a text as one word of a shell command. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
