/** One kind of entry in the activity feed of an issue. */
interface ActivityEvent {
  readonly icon: string;
  /** What `workgraph verify` checks of these entries. `src/db/verify/feed-rules.ts` has the statement. */
  readonly rule: string;
}

/** Every kind of event that a feed can have, by its code. */
export const activityEvents = {
  'issue-comment.created.v1': {
    icon: 'icon-comment',
    rule: 'each comment has its entry, but for imported ones',
  },
  'issue-comment.deleted.v1': {
    icon: 'icon-comment',
    rule: 'each deleted comment has the entry of its deletion, but for those that came deleted',
  },
  'issue-comment.updated.v1': {
    icon: 'icon-comment',
    rule: 'each edit of a comment has its entry, but for imported comments',
  },
  'issue-link.created.v1': {
    icon: 'icon-link',
    rule: 'each link has its entry, but for those of imported issues',
  },
  'issue-link.deleted.v1': {
    icon: 'icon-link',
    rule: 'each deleted link has the entry of its deletion, but for those that came deleted',
  },
  'agent-message.created.v1': {
    icon: 'icon-robot',
    rule: 'each message to or from an agent has its entry, but for imported ones',
  },
  'issue-attachment.created.v1': {
    icon: 'icon-paperclip',
    rule: 'each attachment has its entry, but for imported ones',
  },
  'issue.updated.v1': {
    icon: 'icon-pen',
    rule: 'an update of an issue is counted once by its revision and has one entry, at updated_utc',
  },
} as const satisfies Readonly<Record<string, ActivityEvent>>;

/** The code of an event, such as `issue.updated.v1`. */
export type EventType = keyof typeof activityEvents;

export const eventTypes = Object.keys(activityEvents) as EventType[];

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(activityEvents, text);
}
