import { priority as priorityCode } from '../../model/codes.ts';
import { dayMs, isoDate } from './calendar.ts';
import * as change from './changes.ts';
import { commentTexts } from './comment-texts.ts';
import { deliveryAt } from './deliveries.ts';
import { kindLabels } from './labels.ts';
import type { Scene } from './lifecycle.ts';
import { statusOf } from './statuses.ts';
import { type DemoDelivery, type DemoLabel, memberOf, wasActive, workersAt } from './world.ts';

/** Sorts a new issue: priority, labels, estimate. */
export function triage(scene: Scene, atMs: number): void {
  const { world, draft, record, random, agenda, lead } = scene;
  const { team, kind } = draft;
  const needsPriority = record.priority === priorityCode.none && random.chance(0.7);
  const level = random.weighted({ urgent: kind === 'bug' ? 1.5 : 0.3, high: 3, medium: 5, low: 2 });
  const kindLabel = random.chance(0.75) ? labelNamed(world.labels, kindLabels[kind]) : undefined;
  const freeLabels = [
    ...team.labels,
    ...team.labels,
    ...world.labels.filter((label) => label.groupId === null),
  ];
  const estimate = random.pick([1, 1, 2, 2, 3, 3, 5, 5, 8, 13]);
  const isEstimated = team.facts.cycle && random.chance(0.6);
  record.update(atMs, wasActive(lead, atMs) ? lead : draft.reporter, [
    needsPriority ? change.toPriority(record, level) : undefined,
    change.withLabel(record, kindLabel),
    isEstimated ? change.toEstimate(record, estimate) : undefined,
    change.toTitle(record, draft.title),
  ]);
  const second = random.chance(0.55)
    ? random.find(freeLabels.filter(({ name }) => name !== 'blocked'))
    : undefined;
  const third = random.chance(0.25)
    ? random.find(freeLabels.filter(({ name }) => name !== 'blocked'))
    : undefined;
  for (const label of [second, third]) {
    agenda.add(atMs + 60_000, (atMs) => record.update(atMs, lead, [change.withLabel(record, label)]));
  }
}

/** Puts it into the next delivery, mostly with somebody's name on it, sometimes with a date. */
export function plan(scene: Scene, atMs: number): void {
  const { draft, record, random, lead, worker } = scene;
  const isAssigned = random.chance(draft.fate === 'waiting' ? 0.6 : 0.8);
  const daysLeft = draft.fate === 'waiting' ? random.integer(10, 60) : random.integer(5, 30);
  const next = deliveryAt(draft.team, atMs + 3 * dayMs);
  const delivery = draft.fate === 'waiting' && next ? deliveryAt(draft.team, next.endMs) : next;
  record.update(atMs, lead, [
    record.status === statusOf(draft.team, 'backlog')
      ? change.toStatus(record, statusOf(draft.team, 'open'))
      : undefined,
    isAssigned ? change.toAssignee(record, worker) : undefined,
    delivery && random.chance(0.8) ? change.toDelivery(record, delivery) : undefined,
    random.chance(0.3) ? change.toDueDate(record, isoDate(atMs + daysLeft * dayMs)) : undefined,
  ]);
}

export function start(scene: Scene, atMs: number): void {
  const { draft, record, agenda, worker } = scene;
  const { team } = draft;
  const delivery = record.delivery ? undefined : deliveryAt(team, atMs + 3 * dayMs);
  record.update(atMs, worker, [
    change.toStatus(record, statusOf(team, 'active')),
    change.toAssignee(record, worker),
    delivery && draft.fate !== 'epic' ? change.toDelivery(record, delivery) : undefined,
  ]);
  agenda.add(atMs + 20 * 60_000, (atMs) => {
    if (record.isOpen) adjust(scene, atMs);
  });
}

/** What turns out once the work has begun: it takes two, or longer. */
function adjust({ draft, record, random, lead }: Scene, atMs: number): void {
  const helper = random.chance(0.2) ? random.find(workersAt(draft.team, draft.createdMs)) : undefined;
  const isLate = record.dueDate !== undefined && random.chance(0.25);
  record.update(atMs, lead, [
    helper && change.withAlso(record, helper),
    isLate ? change.toDueDate(record, isoDate(atMs + random.integer(9, 25) * dayMs)) : undefined,
    record.estimate !== undefined && random.chance(0.1)
      ? change.toEstimate(record, record.estimate + 2)
      : undefined,
  ]);
}

export function block(scene: Scene, atMs: number): void {
  const { world, record, random, agenda, worker } = scene;
  record.update(atMs, worker, [change.withLabel(record, labelNamed(world.labels, 'blocked'))]);
  agenda.add(atMs + 90_000, (atMs) => record.comment(atMs, worker, random.pick(commentTexts.blocked)));
}

export function review(scene: Scene, atMs: number): void {
  const { draft, record, random, worker, lead } = scene;
  const others = workersAt(draft.team, draft.createdMs).filter((member) => member !== worker);
  const reviewer = random.chance(0.35) ? random.find(others) : undefined;
  const isTested = random.chance(0.12);
  record.update(atMs, worker, [
    change.toStatus(record, statusOf(draft.team, 'active', true)),
    reviewer && change.withRole(record, 'reviewer', reviewer),
    isTested ? change.withRole(record, 'tester', lead) : undefined,
  ]);
}

/** Closed by whoever did it, the lead, or the robot that released it. */
export function finish(scene: Scene, atMs: number): void {
  const { world, draft, record, random, worker, lead } = scene;
  const by = random.weighted({
    worker: 6,
    lead: 2,
    robot: draft.team.facts.workflow === 'engineering' ? 2 : 0,
  });
  const robot = memberOf(world, 'release');
  record.update(atMs, { worker, lead, robot }[by], [
    change.toStatus(record, statusOf(draft.team, 'completed')),
  ]);
}

export function reopen(scene: Scene, atMs: number): void {
  const { draft, record, lead } = scene;
  if (!record.isOpen) record.update(atMs, lead, [change.toStatus(record, statusOf(draft.team, 'active'))]);
}

/** Gives it up; a part of what engineers give up is a duplicate. */
export function cancel(scene: Scene, atMs: number): void {
  const { draft, record, random, lead } = scene;
  const isUnassigned = random.chance(0.3);
  record.update(atMs, lead, [
    change.toStatus(record, statusOf(draft.team, 'canceled', random.chance(0.3))),
    isUnassigned ? change.withoutAssignees(record) : undefined,
  ]);
}

/** Moves it on to the next delivery; what has moved twice falls out. */
export function rollOver(scene: Scene, atMs: number, from: DemoDelivery): void {
  const { draft, record, lead } = scene;
  if (!record.isOpen || record.delivery !== from) return;
  const plannedMs = from.startMs - draft.createdMs;
  const next = plannedMs > 60 * dayMs ? undefined : deliveryAt(draft.team, from.endMs);
  record.update(atMs, lead, [change.toDelivery(record, next)]);
}

function labelNamed(labels: readonly DemoLabel[], name: string): DemoLabel | undefined {
  return labels.find((label) => label.name === name);
}
