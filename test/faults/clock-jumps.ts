import { randomUUID } from 'node:crypto';
import { type ClientRequest, Client } from './support/client.ts';
import { Clock } from './support/clock.ts';
import { runFault, type Trial } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { checkWrites, onPostgres, startService } from './support/scene.ts';
import type { Service } from './support/service.ts';
import { addWorkspace, withDatabase, type World } from './support/world.ts';
import { Writers } from './support/writers.ts';

// The clock of the server jumps forwards and back while eight clients write; the clock of PostgreSQL does not.
await runFault(import.meta.filename, {
  fault: 'clock jumps (faketime): an hour forwards, back, a day back',
  pass: 'tokens, signatures, ordering as documented',
  amount: { unit: 'rounds', short: 1, long: 20 },
  needs: ['faketime'],
  run: async (trial) => {
    const { cluster, location, world } = await onPostgres(trial);
    const other = await withDatabase(location, addWorkspace);
    const clock = new Clock(trial.folder);
    const service = await startService(trial, { databaseUrl: cluster.url, env: clock.env });
    const ledger = new Ledger();
    const writers = new Writers({ url: service.url, world, ledger, count: 8 });
    for (let round = 0; round < trial.amount; round++) await oneRound(trial, service, other, clock);
    await writers.acknowledgement();
    await writers.stop();
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    // The invariants require that each feed is in the order of its times, and that no time of an issue is before its creation.
    const { words: found } = await checkWrites(trial, location, writers);
    return (
      `${clock.jumps} jumps; tokens and signed addresses end and hold by the server's clock, a key is replayed across each jump; ` +
      `feeds in order; ${found}`
    );
  },
});

/** Creates a token and a file, and uses both before and after a jump. */
async function oneRound(trial: Trial, service: Service, world: World, clock: Clock): Promise<void> {
  const owner = new Client(service.url, world.token);
  await clock.jumpTo('+0');
  const expiresUtc = new Date(Date.now() + 30 * 60_000).toISOString();
  const token = (
    await mutate(
      owner,
      'accessTokenCreate',
      { name: 'half an hour', scopes: ['issues:read'], expiresUtc },
      'token',
    )
  )['token'] as unknown as string;
  const guest = new Client(service.url, token);
  const reads = async (client: Client) => (await client.send({ path: '/v1/issues?page_size=1' })).status;
  const expect = (what: string, is: unknown, due: unknown) =>
    trial.must(is === due, `${what}: ${String(is)}, not ${String(due)}`);
  const key = randomUUID();
  const write = () => owner.send(keyedComment(issueKey, key));
  const issue = { teamId: world.teamId, title: `Clock ${randomUUID()}`, description: '', priority: 0 };
  const made = await owner.send({ method: 'POST', path: '/v1/issues', body: issue });
  const { key: issueKey } = JSON.parse(made.body) as { key: string };
  const first = await write();
  expect('a comment', first.status, 201);
  const address = await newFile(owner, issueKey);
  expect('a token before its end', await reads(guest), 200);
  expect('a signed address', await statusOf(address()), 200);
  const earlyUrl = await address();

  await clock.jumpTo('+1h');
  expect('a token after its end', await reads(guest), 401);
  expect('a token without an end', await reads(owner), 200);
  expect('a signed address of an hour ago', await statusOf(earlyUrl), 403);
  expect('a signed address of now', await statusOf(address()), 200);
  const again = await write();
  expect('a write repeated after an hour', again.headers['idempotency-replayed'], 'true');
  expect('a write an hour later', (await owner.send(keyedComment(issueKey, randomUUID()))).status, 201);

  await clock.jumpTo('+0');
  expect('a token, the clock put right', await reads(guest), 200);
  expect('a signed address, the clock put right', await statusOf(earlyUrl), 200);
  expect(
    'a write, the clock put right',
    (await owner.send(keyedComment(issueKey, randomUUID()))).status,
    201,
  );

  await clock.jumpTo('-1d');
  expect('a token a day ago', await reads(owner), 200);
  expect('a write a day ago', (await owner.send(keyedComment(issueKey, randomUUID()))).status, 201);
  const { body } = await owner.send({ path: `/v1/issues/${issueKey}/activity?page_size=100` });
  const { results } = JSON.parse(body) as { results: { occurredUtc: string; sortOrder: number }[] };
  // Four comments and a file.
  expect('entries', results.length, 5);
  const times = results.map(({ occurredUtc }) => occurredUtc);
  expect('the order of entries', JSON.stringify(times), JSON.stringify(times.toSorted()));
  owner.close();
  guest.close();
}

function keyedComment(issueKey: string, key: string): ClientRequest {
  const headers = { 'Idempotency-Key': key };
  return {
    method: 'POST',
    path: `/v1/issues/${issueKey}/comments`,
    body: { body: 'By the clock.' },
    headers,
  };
}

/** Attaches a file to an issue; returns a function that requests a new signed URL of it. */
async function newFile(owner: Client, issueKey: string): Promise<() => Promise<string>> {
  const input = { issueKey, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 2 };
  const { uploadUrl, attachment } = await mutate(
    owner,
    'attachmentCreate',
    input,
    'uploadUrl attachment { id }',
  );
  await fetch(uploadUrl as unknown as string, { method: 'PUT', body: 'hi' });
  const path = `/v1/issues/${issueKey}/attachments/${attachment?.id}/content`;
  return async () => (await owner.send({ path })).headers.location ?? '';
}

async function statusOf(address: string | Promise<string>): Promise<number> {
  return (await fetch(await address)).status;
}

async function mutate(client: Client, name: string, input: object, selection: string) {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`;
  const answer = await client.send({
    method: 'POST',
    path: '/graphql',
    body: { query, variables: { input } },
  });
  const { data } = JSON.parse(answer.body) as { data?: Record<string, Record<string, { id: string }>> };
  const payload = data?.[name];
  if (!payload) throw new Error(`${name} was answered ${answer.status}: ${answer.body}`);
  return payload;
}
