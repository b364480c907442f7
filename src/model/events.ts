/** A kind of event in a workspace that the log of changes records. */
interface EventKind {
  /** The id prefix of the object that the event concerns. */
  readonly subject: string;
  /** The scope that a token needs to read the event; any token may read it if this is `token`. */
  readonly scope:
    | 'issues:read'
    | 'teams:read'
    | 'projects:read'
    | 'members:read'
    | 'workspace:admin'
    | 'token';
  /**
   * What its changes name besides the subject. `issue`: the issue and its team. `team`: the team. `workspace`: no
   * issue, and no team unless the subject belongs to one.
   */
  readonly belongsTo: 'issue' | 'team' | 'workspace';
  readonly meaning: string;
  /** The icon of the event's entry in the activity feed of its issue; undefined if the event has no entry there. */
  readonly icon?: string;
  /** The rule that `npx workgraph verify` checks for such entries. `src/db/verify/feed-rules.ts` has its statement. */
  readonly rule?: string;
}

/** Every kind of event, by its code. A kind never changes its meaning; a new one gets another version (`.v2`). */
export const events = {
  'issue.created.v1': {
    subject: 'issue',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'An issue was created or imported.',
  },
  'issue.updated.v1': {
    subject: 'issue',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'Fields of an issue were changed; `fields` names them.',
    icon: 'icon-pen',
    rule: 'an update of an issue is counted once by its revision and has one entry, at updated_utc',
  },
  'issue.deleted.v1': {
    subject: 'issue',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'An issue was deleted.',
  },
  'issue.restored.v1': {
    subject: 'issue',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A deleted issue was restored.',
  },
  'issue-comment.created.v1': {
    subject: 'comment',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A comment was written.',
    icon: 'icon-comment',
    rule: 'each comment has its entry, except imported ones',
  },
  'issue-comment.deleted.v1': {
    subject: 'comment',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A comment was deleted.',
    icon: 'icon-comment',
    rule: 'each deleted comment has the entry of its deletion, except those that were imported as deleted',
  },
  'issue-comment.updated.v1': {
    subject: 'comment',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A comment was edited.',
    icon: 'icon-comment',
    rule: 'each edit of a comment has its entry, except edits of imported comments',
  },
  'issue-link.created.v1': {
    subject: 'link',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A link was added to an issue.',
    icon: 'icon-link',
    rule: 'each link has its entry, except those of imported issues',
  },
  'issue-link.deleted.v1': {
    subject: 'link',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A link was removed from an issue.',
    icon: 'icon-link',
    rule: 'each deleted link has the entry of its deletion, except those that were imported as deleted',
  },
  'agent-message.created.v1': {
    subject: 'message',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A message was written in the agent thread of an issue.',
    icon: 'icon-robot',
    rule: 'each message to or from an agent has its entry, except imported ones',
  },
  'issue-attachment.created.v1': {
    subject: 'attachment',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'A file was uploaded to an issue.',
    icon: 'icon-paperclip',
    rule: 'each attachment has its entry, except imported ones',
  },
  'issue-attachment.deleted.v1': {
    subject: 'attachment',
    scope: 'issues:read',
    belongsTo: 'issue',
    meaning: 'An uploaded file was deleted.',
  },
  ...ofDirectory('member', 'A member', { subject: 'member', scope: 'members:read', belongsTo: 'workspace' }),
  ...ofDirectory('agent-installation', 'The installation of an agent', {
    subject: 'installation',
    scope: 'members:read',
    belongsTo: 'workspace',
  }),
  ...ofDirectory('team', 'A team', { subject: 'team', scope: 'teams:read', belongsTo: 'team' }),
  ...ofDirectory('status', 'A status of issues', { subject: 'status', scope: 'token', belongsTo: 'team' }),
  ...ofDirectory('label', 'A label', { subject: 'label', scope: 'token', belongsTo: 'workspace' }),
  ...ofDirectory('delivery', 'A delivery', { subject: 'delivery', scope: 'token', belongsTo: 'team' }),
  ...ofDirectory('repository', 'A repository', { subject: 'repo', scope: 'teams:read', belongsTo: 'team' }),
  ...ofDirectory('project-status', 'A status of projects', {
    subject: 'pstatus',
    scope: 'token',
    belongsTo: 'workspace',
  }),
  ...ofDirectory('project', 'A project', { subject: 'project', scope: 'projects:read', belongsTo: 'team' }),
  ...ofDirectory('project-link', 'A link of a project', {
    subject: 'plink',
    scope: 'projects:read',
    belongsTo: 'workspace',
  }),
  'webhook.disabled.v1': {
    subject: 'webhook',
    scope: 'workspace:admin',
    belongsTo: 'workspace',
    meaning:
      'The service stopped serving a webhook, because it failed for days or its member may no longer read its events.',
  },
  'import.finished.v1': {
    subject: 'workspace',
    scope: 'issues:read',
    belongsTo: 'workspace',
    meaning: 'An import ended.',
  },
  'changes.lost.v1': {
    subject: 'workspace',
    scope: 'token',
    belongsTo: 'workspace',
    meaning: 'Changes before this one may be missing: read the lists again.',
  },
} as const satisfies Readonly<Record<string, EventKind>>;

/** The two events of a kind of object that directory files and imports create and change. */
function ofDirectory<
  Name extends string,
  const Kind extends Pick<EventKind, 'subject' | 'scope' | 'belongsTo'>,
>(name: Name, noun: string, kind: Kind) {
  const codes = {
    [`${name}.created.v1`]: { ...kind, meaning: `${noun} was created.` },
    [`${name}.updated.v1`]: { ...kind, meaning: `${noun} was changed; \`fields\` names what.` },
  };
  // The compiler gives computed keys the type string.
  return codes as Record<`${Name}.${'created' | 'updated'}.v1`, Kind & { meaning: string }>;
}

/** The code of an event, such as `issue.updated.v1`. */
export type EventType = keyof typeof events;

export const eventTypes = Object.keys(events) as EventType[];

/** The type of a test message to a webhook. It is not an event: it is sent on request and never logged. */
export const pingType = 'webhook.ping.v1';

/** The code of an event that has an entry in the feed of its issue. */
export type FeedEventType = {
  [Type in EventType]: (typeof events)[Type] extends { readonly icon: string } ? Type : never;
}[EventType];

export const feedEventTypes = eventTypes.filter(isFeedEventType);

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(events, text);
}

/** The event of a write of a row, by the name of its table; undefined if the log has no such event. */
export function eventOfTable(table: string, act: 'created' | 'updated'): EventType | undefined {
  const name = table.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const type = `${name}.${act}.v1`;
  return isEventType(type) ? type : undefined;
}

export function isFeedEventType(text: string): text is FeedEventType {
  return isEventType(text) && Object.hasOwn(events[text], 'icon');
}
