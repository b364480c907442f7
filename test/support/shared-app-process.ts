import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { addWorld, type World } from '../graph/world.ts';
import { startApp } from './app.ts';
import { isAlive } from './processes.ts';
import { parseRows, printRows } from './printed-rows.ts';
import type { Answers, ServerInfo, Question } from './shared-app.ts';

// The server that the read-only suites of a run share. Suites reach it over HTTP, because jest may replace a worker
// while the server continues. It exits when it receives the question `stop`, or when the run that started it has ended.
const [file = '', runPid = ''] = process.argv.slice(2);
const app = await startApp({ demo: true });
let world: Promise<World> | undefined;

const answers: Answers = {
  tokenFor: (holder) => app.tokenFor(holder),
  world: async () => {
    world ??= addWorld(app, 'here');
    const shared = await world;
    const { fixture, workspace } = shared;
    const { rows } = await shared.read();
    const printed = printRows(rows);
    if (!isDeepStrictEqual(parseRows(printed), rows))
      throw new Error('A row has a value that does not survive JSON.');
    return { nowMs: fixture.nowMs, workspace, rows: printed };
  },
  checkLog: () => {
    app.checkLog();
    return Promise.resolve(null);
  },
  stop: async () => {
    clearInterval(runWatch);
    control.close();
    await app.stop();
    return null;
  },
};

const control = createServer((request, response) => {
  void replyTo(json(request)).then((body) =>
    response.setHeader('Connection', 'close').end(JSON.stringify(body)),
  );
});
control.listen(0, '127.0.0.1');
await once(control, 'listening');
const runWatch = setInterval(() => {
  if (!isAlive(Number(runPid))) void answers.stop();
}, 1_000);

const info: ServerInfo = {
  url: app.url,
  token: app.token,
  workspaceId: app.workspaceId,
  ownerUserAccountId: app.ownerUserAccountId,
  control: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
};
// The file is renamed, so that the workers that wait for it never see an incomplete one.
writeFileSync(`${file}.partial`, JSON.stringify(info));
renameSync(`${file}.partial`, file);

async function replyTo(request: Promise<unknown>): Promise<{ answer: unknown } | { error: string }> {
  try {
    const { question, argument } = (await request) as { question: Question; argument: object };
    return { answer: await answers[question](argument) };
  } catch (error) {
    return { error: String(error) };
  }
}
