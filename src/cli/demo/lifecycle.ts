import { projectState } from '../../model/codes.ts';
import { Agenda } from './agenda.ts';
import {
  conversationOf,
  type AgentConversation,
  finishConversation,
  planConversation,
} from './agent-conversations.ts';
import { planAttachments } from './attachments.ts';
import { dayMs, hourMs, later } from './calendar.ts';
import { toStatus, withoutProject } from './changes.ts';
import { planComments } from './comments.ts';
import type { Draft } from './drafts.ts';
import { IssueRecord } from './issue-record.ts';
import { planLinks } from './links.ts';
import { Random } from './random.ts';
import { statusOf } from './statuses.ts';
import { block, cancel, finish, plan, reopen, review, rollOver, start, triage } from './steps.ts';
import { type DemoMember, type DemoStatus, memberOf, type World, workersAt } from './world.ts';

/** What is at hand while an issue's life is made up. */
export interface Scene {
  readonly world: World;
  readonly draft: Draft;
  readonly record: IssueRecord;
  readonly random: Random;
  readonly agenda: Agenda;
  /** Who leads the work here: the team's lead, or an owner. */
  readonly lead: DemoMember;
  /** Who does the work, once it is planned. */
  readonly worker: DemoMember;
  readonly conversation: AgentConversation | undefined;
}

/** Lives the issue's life up to now; its sub-issues must have lived theirs. */
export function liveIssue(world: World, draft: Draft, children: readonly IssueRecord[]): IssueRecord {
  const random = new Random(`life of ${draft.team.code}-${draft.number}`);
  const { lead = memberOf(world, 'mara') } = draft.team;
  const record = new IssueRecord(world, draft, firstStatus(draft, random));
  const worker = random.find(workersAt(draft.team, draft.createdMs)) ?? lead;
  const conversation = draft.story && conversationOf(world, record, draft.story);
  const scene: Scene = { world, draft, record, random, agenda: new Agenda(), lead, worker, conversation };
  if (random.chance(0.08)) record.subscribers.add(memberOf(world, 'mara'));
  const endMs = planWork(scene, children);
  planComments(scene, endMs);
  planAttachments(scene);
  planLinks(scene, endMs);
  planProjectEnd(scene);
  planTeamEnd(scene);
  scene.agenda.run(
    Math.min(world.calendar.untilMs, draft.deletedMs ?? Infinity, draft.team.endedMs ?? Infinity),
  );
  if (conversation) finishConversation(scene, conversation);
  return record;
}

function firstStatus({ fate, team }: Draft, random: Random): DemoStatus {
  if (fate === 'born closed') return statusOf(team, 'completed');
  return statusOf(team, random.chance(fate === 'shelved' ? 0.6 : 0.25) ? 'backlog' : 'open');
}

/** Plans the steps of the issue's fate and tells when they would be over. */
function planWork(scene: Scene, children: readonly IssueRecord[]): number {
  const { draft, record, random, agenda, lead } = scene;
  const { fate, team, createdMs } = draft;
  if (fate === 'born closed') return createdMs + 3 * dayMs;
  const triagedMs = later(createdMs, random, 1, 40);
  agenda.add(triagedMs, (atMs) => triage(scene, atMs));
  if (fate === 'epic') return planEpic(scene, triagedMs, children);
  if (fate === 'shelved') {
    agenda.add(later(triagedMs, random, 2, 60), (atMs) => {
      record.update(atMs, lead, [toStatus(record, statusOf(team, 'backlog'))]);
    });
    return triagedMs + 40 * dayMs;
  }
  if (fate === 'canceled') {
    const canceledMs = later(triagedMs, random, 20, 900);
    agenda.add(canceledMs, (atMs) => cancel(scene, atMs));
    return canceledMs + dayMs;
  }
  return planDoing(scene, triagedMs);
}

/** Begins soon after its creation, and ends when all its sub-issues are closed. */
function planEpic(scene: Scene, triagedMs: number, children: readonly IssueRecord[]): number {
  const { world, random, agenda } = scene;
  const startedMs = later(triagedMs, random, 10, 60);
  agenda.add(startedMs, (atMs) => start(scene, atMs));
  if (children.some((child) => child.isOpen)) return world.calendar.untilMs;
  const closedMs = Math.max(startedMs, ...children.map((child) => child.closedMs ?? child.draft.createdMs));
  const endMs = later(closedMs, random, 2, 40);
  agenda.add(endMs, (atMs) => finish(scene, atMs));
  return endMs;
}

function planDoing(scene: Scene, triagedMs: number): number {
  const { draft, random, agenda, conversation } = scene;
  const soon = draft.fate === 'story';
  const plannedMs = later(triagedMs, random, soon ? 2 : 8, soon ? 20 : draft.fate === 'waiting' ? 90 : 300);
  agenda.add(plannedMs, (atMs) => plan(scene, atMs));
  planRollOvers(scene, plannedMs);
  if (draft.fate === 'waiting') return plannedMs + 20 * dayMs;
  const startedMs = later(plannedMs, random, 2, soon ? 10 : 110);
  agenda.add(startedMs, (atMs) => start(scene, atMs));
  if (draft.fate === 'stalled') {
    agenda.add(later(startedMs, random, 20, 90), (atMs) => block(scene, atMs));
    return startedMs + 20 * dayMs;
  }
  const talkedMs = conversation ? planConversation(scene, conversation, startedMs) : startedMs;
  if (draft.story?.ending === 'active') return talkedMs + 5 * dayMs;
  return planFinish(scene, talkedMs);
}

function planFinish(scene: Scene, startedMs: number): number {
  const { draft, random, agenda } = scene;
  const reviewedMs = later(startedMs, random, 8, 150);
  agenda.add(reviewedMs, (atMs) => review(scene, atMs));
  if (draft.story?.ending === 'review') return reviewedMs + 2 * dayMs;
  const finishedMs = later(reviewedMs, random, 2, 50);
  agenda.add(finishedMs, (atMs) => finish(scene, atMs));
  if (!random.chance(0.05)) return finishedMs + random.integer(0, 3) * dayMs;
  const reopenedMs = later(finishedMs, random, 20, 120);
  agenda.add(reopenedMs, (atMs) => reopen(scene, atMs));
  const againMs = later(reopenedMs, random, 10, 90);
  agenda.add(againMs, (atMs) => finish(scene, atMs));
  return againMs;
}

/** On the Friday before a delivery ends, what is open in it moves to the next. */
function planRollOvers(scene: Scene, fromMs: number): void {
  for (const delivery of scene.draft.team.deliveries) {
    const fridayMs = delivery.endMs - 58 * hourMs;
    if (fridayMs > fromMs) scene.agenda.add(fridayMs, (atMs) => rollOver(scene, atMs, delivery));
  }
}

/** What is still open when its project ends is canceled with it or goes on without it. */
function planProjectEnd(scene: Scene): void {
  const { draft, record, random, agenda, lead } = scene;
  const { project } = draft;
  if (project?.endMs === undefined) return;
  const isCanceled = project.state === projectState.canceled && random.chance(0.7);
  agenda.add(project.endMs - 9 * hourMs, (atMs) => {
    if (!record.isOpen) return;
    if (isCanceled) cancel(scene, atMs);
    else record.update(atMs, project.lead ?? lead, [withoutProject(record)]);
  });
}

function planTeamEnd(scene: Scene): void {
  const { draft, record, random, agenda } = scene;
  if (draft.team.endedMs === undefined || !random.chance(0.85)) return;
  agenda.add(draft.team.endedMs - 8 * hourMs, (atMs) => {
    if (record.isOpen) cancel(scene, atMs);
  });
}
