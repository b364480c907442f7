import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { stopAccepting } from '../../src/server/http/listening.ts';
import { WorkerLink } from '../../src/server/workers/worker-link.ts';

// A worker without a database. It answers each request with its pid; `/charge/CALLER` also charges a caller, `/debts` lists the debts
// that it has received, and `/leads` says whether it leads. It exits immediately if the file of the first argument exists; if that
// file contains `others`, only if it is not the first worker.
const link = await WorkerLink.open(process);
const exitFile = process.argv[2] ?? '';
if (existsSync(exitFile) && !(link.start.isFirst && readFileSync(exitFile, 'utf8') === 'others'))
  process.exit(3);
const debts: string[] = [];
link.reports.on('indebted', (message) => {
  debts.push(...message.debts.map(([caller, level]) => `${caller} ${level < 1}`));
});
let leads = false;
link.onLead(() => {
  leads = true;
});
const server = createServer(({ url }, res) => {
  res.shouldKeepAlive = false;
  const caller = url?.startsWith('/charge/') ? url.slice(8) : undefined;
  if (caller !== undefined) link.charge(caller, 1);
  if (url === '/debts') return res.end(`${process.pid} ${debts.join()}`);
  return res.end(url === '/leads' ? `${process.pid} ${leads}` : String(process.pid));
});
const additional = await link.listen(server, '127.0.0.1');
link.ready(`http://127.0.0.1:${link.start.port}`, undefined);
await link.stopped;
const servers = [server, ...additional];
const closed = Promise.all(servers.map((each) => once(each, 'close')));
for (const socket of servers) stopAccepting(socket);
await Promise.all([closed, link.settle(0)]);
await link.close();
process.exit(0);
