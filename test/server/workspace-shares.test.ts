import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Admission, type AdmissionTicket } from '../../src/server/limits/admission.ts';
import { WorkspaceShares } from '../../src/server/limits/workspace-shares.ts';
import { eventually } from '../support/eventually.ts';

const limits = { maxConcurrency: 16, queueWaitMs: 60_000, requestTimeoutMs: 60_000 };

/** Requests of several workspaces at one server. */
class Requests {
  readonly admission = new Admission(limits);
  readonly shares: WorkspaceShares;
  /** The requests in progress, by their workspaces. */
  readonly inProgress: { workspaceId: string; ticket: AdmissionTicket }[] = [];
  readonly tickets: AdmissionTicket[] = [];
  readonly failures: unknown[] = [];

  constructor(queueWaitMs = limits.queueWaitMs) {
    this.shares = new WorkspaceShares({ ...limits, queueWaitMs });
  }

  send(workspaceId: string, count = 1): void {
    for (let n = 0; n < count; n += 1) {
      this.admission.enter(
        (ticket) => {
          this.tickets.push(ticket);
          const joined = ticket.join(() => this.shares.of(workspaceId));
          joined.then(
            () => this.inProgress.push({ workspaceId, ticket }),
            (error: unknown) => this.failures.push(error),
          );
        },
        () => undefined,
      );
    }
  }

  /** Answers the oldest request of a workspace. */
  answer(workspaceId: string): void {
    const index = this.inProgress.findIndex((one) => one.workspaceId === workspaceId);
    const [answered] = this.inProgress.splice(index, 1);
    answered?.ticket.leave();
  }

  /** Answers all requests: the timers of requests in progress would keep the process alive. */
  async answerAll(): Promise<void> {
    while (this.inProgress.length > 0) {
      for (const { ticket } of this.inProgress.splice(0)) ticket.leave();
      await this.count('');
    }
  }

  async count(workspaceId: string): Promise<number> {
    for (let round = 0; round < 5; round += 1) await nextRound();
    return this.inProgress.filter((one) => one.workspaceId === workspaceId).length;
  }
}

it('a workspace that is alone has all places', async () => {
  const requests = new Requests();
  requests.send('busy', 40);
  expect(await requests.count('busy')).toBe(16);
  await requests.answerAll();
});

it('a workspace has half of the places while another one is active, and its other requests hold no ticket', async () => {
  const requests = new Requests();
  requests.send('other');
  requests.send('busy', 40);
  expect(await requests.count('busy')).toBe(8);
  expect(requests.admission.load).toMatchObject({ inProgress: 9, waiting: 0 });
  requests.send('other', 7);
  expect(await requests.count('other')).toBe(8);
  await requests.answerAll();
});

it('the next request of a workspace begins when one of it is answered', async () => {
  const requests = new Requests();
  requests.send('other');
  requests.send('busy', 20);
  expect(await requests.count('busy')).toBe(8);
  for (let answered = 1; answered <= 12; answered += 1) {
    requests.answer('busy');
    expect(await requests.count('busy')).toBe(8);
  }
  requests.answer('busy');
  expect(await requests.count('busy')).toBe(7);
  expect(requests.failures).toEqual([]);
  await requests.answerAll();
});

it('a workspace that has all places when another one becomes active gets no new ones until it has less than half', async () => {
  const requests = new Requests();
  requests.send('busy', 16);
  requests.send('other');
  expect(await requests.count('busy')).toBe(16);
  requests.answer('busy');
  expect(await requests.count('other')).toBe(1);
  requests.send('busy', 10);
  for (let left = 14; left >= 8; left -= 1) {
    requests.answer('busy');
    expect(await requests.count('busy')).toBe(left);
  }
  requests.answer('busy');
  expect(await requests.count('busy')).toBe(8);
  await requests.answerAll();
});

it('a request that waits for the client or for a turn gives its place to others of its workspace', async () => {
  const requests = new Requests();
  requests.send('other');
  requests.send('busy', 9);
  expect(await requests.count('busy')).toBe(8);
  let finishUpload = () => undefined as void;
  const upload = new Promise<void>((resolve) => (finishUpload = resolve));
  const suspended = requests.inProgress.find(({ workspaceId }) => workspaceId === 'busy')?.ticket;
  const resumed = suspended?.whileSuspended(upload);
  expect(await requests.count('busy')).toBe(9);
  finishUpload();
  for (let n = 0; n < 3; n += 1) await nextRound();
  requests.inProgress
    .filter(({ ticket, workspaceId }) => workspaceId === 'busy' && ticket !== suspended)
    .at(0)
    ?.ticket.leave();
  await resumed;
  suspended?.leave();
  expect(requests.failures).toEqual([]);
  await requests.answerAll();
});

it('a request that is answered while it waits for a place keeps none', async () => {
  const requests = new Requests();
  requests.send('other');
  requests.send('busy', 9);
  expect(await requests.count('busy')).toBe(8);
  requests.tickets.at(-1)?.leave();
  for (let answered = 0; answered < 8; answered += 1) requests.answer('busy');
  requests.answer('other');
  expect(await requests.count('busy')).toBe(0);
  expect(requests.failures).toMatchObject([{ code: 'unavailable' }]);
  expect(requests.admission.load).toMatchObject({ inProgress: 0, waiting: 0 });
  expect(requests.shares.of('busy').load).toMatchObject({ inProgress: 0, waiting: 0 });
});

it('requests that wait for a place and those that get none are counted, also of workspaces that are forgotten', async () => {
  const requests = new Requests(300);
  requests.send('other');
  requests.send('busy', 9);
  expect(await requests.count('busy')).toBe(8);
  expect(requests.shares.load).toEqual({ waiting: 1, refused: 0 });
  await eventually(() => requests.failures.length === 1);
  expect(requests.shares.load).toEqual({ waiting: 0, refused: 1 });
  await requests.answerAll();
  for (let n = 0; n < 200; n += 1) requests.shares.of(`workspace ${n}`);
  expect(requests.shares.load).toEqual({ waiting: 0, refused: 1 });
});
