// Receives webhooks: verifies each message, and handles it once, even if it comes twice or this program is killed.
// WEBHOOK_SECRET=whsec_… PORT=3000 node examples/webhook-receiver.js
import { createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { PORT = '3000', WEBHOOK_SECRET = '', LOG = 'webhooks.log' } = process.env;
const secret = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64');
// The log is what this program does, and its memory: a line has the id of a message, and what it was.
const lines = existsSync(LOG) ? readFileSync(LOG, 'utf8').split('\n').slice(0, -1) : [];
const handled = new Set(lines.map((line) => line.split(' ')[0]));

function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest();
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function receive(request, response) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Anybody may send a body, which can be verified only when all of it is here.
    if (bytes > 1_000_000) return response.writeHead(413, { Connection: 'close' }).end();
  }
  const body = Buffer.concat(chunks).toString();
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
  const id = request.headers['webhook-id'];
  if (!handled.has(id)) {
    const { type, data } = JSON.parse(body);
    // One write, before the answer: a message that was not written is sent again.
    appendFileSync(LOG, `${id} ${type} ${data.issue?.key ?? ''}\n`);
    handled.add(id);
  }
  response.writeHead(204).end();
}

createServer((request, response) => {
  // A connection that ends early must not end this program. What could not be handled is sent again.
  receive(request, response).catch(() => response.destroy());
}).listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${PORT}`));
