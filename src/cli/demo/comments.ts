import { memberRole, principalKind } from '../../model/codes.ts';
import { hourMs, minuteMs, workingTime } from './calendar.ts';
import { commentTexts, type Phase } from './comment-texts.ts';
import type { DemoComment } from './issue-record.ts';
import type { Scene } from './lifecycle.ts';
import { statusOf } from './statuses.ts';
import { type DemoMember, wasActive, workersAt } from './world.ts';

const counts = { 0: 24, 1: 20, 2: 19, 3: 14, 4: 9, 5: 6, 6: 4, 8: 2, 12: 1 };

/** Plans what people say between the creation and its end: comments, replies, a few edits and deletions. */
export function planComments(scene: Scene, endMs: number): void {
  const { world, draft, random, agenda } = scene;
  const count = Number(random.weighted(counts)) + (draft.fate === 'epic' ? 3 : 0);
  const fromMs = draft.createdMs + hourMs;
  const toMs = Math.max(Math.min(endMs, world.calendar.untilMs), fromMs);
  const used = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    const atMs = workingTime(fromMs + (toMs - fromMs) * random.fraction(), random);
    agenda.add(atMs, (atMs) => say(scene, atMs, used));
  }
}

function say(scene: Scene, atMs: number, used: Set<string>): void {
  const { record, random } = scene;
  const last = record.comments.at(-1);
  const author = random.find(speakers(scene, atMs).filter((member) => member !== last?.author));
  if (!author) return;
  const roots = record.comments.filter(
    (comment) => !comment.parent && comment.author !== author && comment.deletedMs === undefined,
  );
  const parent = random.chance(0.38) ? random.find(roots) : undefined;
  const texts = commentTexts[parent ? 'reply' : phaseOf(scene)].filter((text) => !used.has(text));
  const body = random.find(texts);
  if (!body) return;
  used.add(body);
  afterwards(scene, record.comment(atMs, author, body, parent));
}

/** Now and then an author corrects or takes back what was said. */
function afterwards(scene: Scene, comment: DemoComment): void {
  const { record, random, agenda } = scene;
  const fate = random.weighted({ stays: 92, edited: 5, deleted: 3 });
  const atMs = comment.createdMs + random.integer(4, 50) * minuteMs;
  if (fate === 'edited')
    agenda.add(atMs, (atMs) =>
      record.editComment(atMs, comment, `${comment.body}\n\nEdit: see also the notes of the weekly.`),
    );
  if (fate === 'deleted') agenda.add(atMs, (atMs) => record.deleteComment(atMs, comment));
}

/** Those who are concerned, more than once so that they speak more often; guests of the team, too. */
function speakers({ draft, record, worker, lead }: Scene, atMs: number): DemoMember[] {
  const { team, reporter, createdMs } = draft;
  const concerned = [reporter, ...record.assignees, worker].filter(
    (member) => member.kind === principalKind.user,
  );
  const guests = team.members.filter((member) => member.role === memberRole.guest);
  const all = [...concerned, ...concerned, lead, ...workersAt(team, createdMs), ...guests];
  return all.filter((member) => wasActive(member, atMs));
}

function phaseOf({ draft, record }: Scene): Phase {
  if (record.status.isTerminal) return 'closed';
  if (record.status === statusOf(draft.team, 'active')) return 'working';
  return record.status === statusOf(draft.team, 'active', true) ? 'late' : 'early';
}
