import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chance } from './chance.ts';

/** A message that a receiver has accepted. */
export interface AcceptedMessage {
  readonly id: string;
  readonly issueId: string | undefined;
  readonly position: number;
}

/** The ways in which a receiver misbehaves. A message for which `accept` is called counts as accepted. */
const misbehaviors: readonly ((response: ServerResponse, accept: () => void) => void)[] = [
  (response) => void response.writeHead(500).end('broken'),
  (response) => void response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  (response) => void response.destroy(),
  (response) => void response.writeHead(429, { 'Retry-After': '1' }).end(),
  (response, accept) => {
    accept();
    setTimeout(() => response.writeHead(204).end(), 1_000);
  },
  // An endless body, and a head that is far too large; the sender must treat both as failures.
  (response) => {
    response.writeHead(500);
    const more = setInterval(() => response.write('x'.repeat(65_536)), 5);
    response.on('close', () => clearInterval(more));
  },
  (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\nX-Head: ${'x'.repeat(2_000_000)}\r\n\r\n`),
];

/** A receiver of webhooks that sometimes misbehaves. */
export async function startReceiver(badShare: number) {
  const accepted: AcceptedMessage[] = [];
  let tried = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      tried += 1;
      const misbehave = misbehaviors[tried % misbehaviors.length];
      const accept = () => {
        const { data } = JSON.parse(text) as {
          data: { change?: { position: string; issueId: string | null } };
        };
        if (data.change)
          accepted.push({
            id: String(request.headers['webhook-id']),
            issueId: data.change.issueId ?? undefined,
            position: Number(data.change.position),
          });
      };
      if (misbehave && chance.fraction() < badShare) return misbehave(response, accept);
      accept();
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    accepted,
    get tried() {
      return tried;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Counts the different messages, and those that first arrived after a later message about the same issue. */
export function deliveryCounts(accepted: readonly AcceptedMessage[]): {
  different: number;
  overtaken: number;
} {
  const ids = new Set<string>();
  const last = new Map<string, number>();
  let overtaken = 0;
  for (const { id, issueId, position } of accepted) {
    if (ids.has(id)) continue;
    ids.add(id);
    if (issueId === undefined) continue;
    if (position < (last.get(issueId) ?? 0)) overtaken += 1;
    last.set(issueId, position);
  }
  return { different: ids.size, overtaken };
}
