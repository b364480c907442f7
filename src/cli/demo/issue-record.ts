import { type EventType, eventIcons } from '../../resolvers/activity.ts';
import type { Change } from './changes.ts';
import type { Draft } from './drafts.ts';
import type { DemoDelivery, DemoLabel, DemoMember, DemoProject, DemoStatus, World } from './world.ts';

export interface DemoComment {
  readonly id: string;
  readonly author: DemoMember;
  readonly parent: DemoComment | undefined;
  readonly createdMs: number;
  body: string;
  editedMs: number | undefined;
  deletedMs: number | undefined;
}

interface Entry {
  eventType: EventType;
  actor: DemoMember;
  /** What the actor did, to stand after the name. */
  deed: string;
}

/**
 * An issue on its way through time. Whatever happens to it goes through here: the fields change, and the feed gets
 * the entry that says so, as the service itself would do it.
 */
export class IssueRecord {
  readonly draft: Draft;
  readonly id: string;
  readonly world: World;
  title: string;
  status: DemoStatus;
  priority: number;
  /** The first one is the primary assignee. */
  assignees: DemoMember[] = [];
  project: DemoProject | undefined;
  delivery: DemoDelivery | undefined;
  estimate: number | undefined;
  dueDate: string | undefined;
  readonly labels = new Set<DemoLabel>();
  readonly roles: { role: string; member: DemoMember }[] = [];
  readonly subscribers = new Set<DemoMember>();
  readonly comments: DemoComment[] = [];
  linkCount = 0;
  activityCount = 0;
  updateCount = 0;
  updatedMs: number;
  lastActivityMs: number | undefined;
  closedMs: number | undefined;

  constructor(world: World, draft: Draft, status: DemoStatus) {
    this.world = world;
    this.draft = draft;
    this.id = draft.id;
    this.title = draft.title;
    this.status = status;
    this.priority = draft.priority;
    this.project = draft.project;
    this.updatedMs = draft.createdMs;
    this.subscribers.add(draft.reporter);
  }

  get isOpen(): boolean {
    return !this.status.isTerminal;
  }

  /** Makes the changes at once, as one PATCH does; without any, nothing happens. */
  update(atMs: number, actor: DemoMember, changes: readonly (Change | undefined)[]): void {
    const made = changes.filter((change) => change !== undefined);
    if (made.length === 0) return;
    for (const change of made) change.apply(atMs);
    this.updatedMs = atMs;
    this.updateCount += 1;
    const deed = sentence.format(made.map((change) => change.phrase));
    this.log(atMs, { eventType: 'issue.updated.v1', actor, deed });
  }

  comment(atMs: number, author: DemoMember, body: string, parent?: DemoComment): DemoComment {
    const id = this.world.ids.uuid(atMs);
    const comment = { id, author, parent, body, createdMs: atMs, editedMs: undefined, deletedMs: undefined };
    this.comments.push(comment);
    this.subscribers.add(author);
    const deed = parent ? `replied to ${parent.author.displayName}` : 'commented';
    this.log(atMs, { eventType: 'issue-comment.created.v1', actor: author, deed });
    return comment;
  }

  editComment(atMs: number, comment: DemoComment, body: string): void {
    comment.body = body;
    comment.editedMs = atMs;
    this.log(atMs, {
      eventType: 'issue-comment.updated.v1',
      actor: comment.author,
      deed: 'edited a comment',
    });
  }

  deleteComment(atMs: number, comment: DemoComment): void {
    comment.deletedMs = atMs;
    this.log(atMs, {
      eventType: 'issue-comment.deleted.v1',
      actor: comment.author,
      deed: 'deleted a comment',
    });
  }

  /** Adds the next entry of the feed. */
  log(atMs: number, { eventType, actor, deed }: Entry): void {
    this.activityCount += 1;
    this.lastActivityMs = atMs;
    this.world.rows.activity.push({
      workspaceId: this.world.workspaceId,
      issueId: this.id,
      sortOrder: this.activityCount,
      id: this.world.ids.uuid(atMs),
      eventType,
      actorUserAccountId: actor.userAccountId,
      occurredUtc: new Date(atMs),
      iconCss: eventIcons[eventType],
      text: `${actor.displayName} ${deed}`,
    });
  }
}

/** Puts a comma between the words, and "and" before the last. */
const sentence = new Intl.ListFormat('en-GB');
