import type { FieldOf, PlainKind } from '../../model/issue-fields.ts';
import type { FieldValue, RequiredField } from '../../model/issue-values.ts';

/** A person as a source names him; matched by address, else by name. */
export interface ImportedPerson {
  name: string;
  emailAddress?: string | undefined;
  /** A code of `principalKind`; a user by default. */
  principalKind?: number | undefined;
}

export interface ImportedComment {
  /** Unique within the issue. */
  sourceId: string;
  author: ImportedPerson | undefined;
  body: string;
  createdUtc: Date | undefined;
  updatedUtc?: Date | undefined;
  isEdited?: boolean;
  /** A comment of the same issue that stands before this one. */
  parentSourceId?: string | undefined;
  deletedUtc?: Date | undefined;
}

export interface ImportedLink {
  url: string;
  title: string;
  createdUtc: Date | undefined;
  createdBy: ImportedPerson | undefined;
  deletedUtc?: Date | undefined;
}

/** One entry of an issue's activity feed. */
export interface ImportedActivity {
  /** One of the event types of the feed; it decides the icon. */
  eventType: string;
  actor: ImportedPerson | undefined;
  occurredUtc: Date | undefined;
  /** The whole sentence, the actor's name included. */
  text: string;
}

/** A file of an issue. */
export interface ImportedAttachment {
  /** The path of its bytes, relative to the directory of the imported file. */
  file: string;
  fileName: string;
  contentType: string;
  uploadedBy: ImportedPerson | undefined;
  createdUtc: Date | undefined;
  uploadedUtc: Date | undefined;
}

/** A message of an agent thread; the types are codes. */
export interface ImportedMessage {
  authorType: number;
  author: ImportedPerson | undefined;
  messageType: number;
  /** Undefined: the turn follows from the messages before. */
  turnNumber: number | undefined;
  body: string;
  /** The place of the message that this one answers, from 1. */
  replyTo: number | undefined;
  followUpActions: { name: string; key: string; color: string }[];
  createdUtc: Date | undefined;
}

/** The conversation of an issue with an agent. */
export interface ImportedThread {
  /** Undefined for the default agent of the workspace. */
  agent: ImportedPerson | undefined;
  messages: ImportedMessage[];
}

/** The fields that a file carries as they are; one that its source knows nothing of is undefined. */
type PlainFields = { [Name in FieldOf<PlainKind>]?: FieldValue<Name> | undefined } & {
  [Name in FieldOf<PlainKind> & RequiredField]: FieldValue<Name>;
};

/** One issue as a source gives it: what every source is brought to before anything is written. */
export interface ImportedIssue extends PlainFields {
  sourceId: string;
  /** The code of its team; undefined for the one that the import is told. */
  teamCode?: string | undefined;
  /** By name when the team has it, else by a code of `statusCategory`; open means the initial status. */
  status: { name?: string | undefined; category: number };
  /** Who reported it; undefined for nobody in particular. */
  reporter: ImportedPerson | undefined;
  primaryAssignee: ImportedPerson | undefined;
  /** The other assignees. */
  assignees: ImportedPerson[];
  labels: string[];
  parentSourceId: string | undefined;
  /** These two are null for none, and undefined in a source that knows nothing of the kind. */
  projectKey?: string | null | undefined;
  deliveryNumber?: number | null | undefined;
  createdUtc: Date | undefined;
  updatedUtc: Date | undefined;
  closedUtc: Date | undefined;
  comments: ImportedComment[];
  links: ImportedLink[];
  /** Undefined in a source that knows no roles. */
  roleAssignments: { role: string; person: ImportedPerson }[] | undefined;
  /** Who follows it; undefined for whoever the service would have follow it. */
  subscribers: ImportedPerson[] | undefined;
  /**
   * These four are undefined in a source that knows nothing of the kind, and in files that older versions exported. An
   * undefined field is no part of the issue's fingerprint, so those files still count as unchanged.
   */
  deletedUtc?: Date | undefined;
  activity?: ImportedActivity[] | undefined;
  attachments?: ImportedAttachment[] | undefined;
  agentThread?: ImportedThread | undefined;
  /** What we have no column for: it is kept as it is. */
  relations: unknown[];
  fields: Record<string, unknown>;
}

/** What a source makes of one line of a file; `bytesRead` counts the bytes of text up to its end. */
export type SourceLine = { readonly line: number; readonly bytesRead: number } & LineContent;
export type LineContent =
  | { readonly kind: 'issue'; readonly issue: ImportedIssue; readonly warnings?: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }
  /** An issue that was deleted in the source; its id may be a parent's. */
  | { readonly kind: 'tombstone'; readonly sourceId: string }
  /** A record that the source is known to have beside its issues, and that nothing here stands for. */
  | { readonly kind: 'other' };
