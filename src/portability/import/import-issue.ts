import type { FieldOf, PlainKind } from '../../model/issue-fields.ts';
import type { FieldValue, RequiredField } from '../../model/issue-values.ts';

/** A person as named in the source. Persons are matched with members by address, otherwise by name. */
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
  /** An earlier comment of the same issue. */
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

/** How an issue was from a time until its next stage. */
export interface ImportedStage {
  sinceUtc: Date | undefined;
  /** Undefined if it is unknown. */
  statusName: string | undefined;
  projectKey: string | undefined;
  deliveryNumber: number | undefined;
  estimateValue: number | undefined;
  deleted: boolean;
}

/** A file of an issue. */
export interface ImportedAttachment {
  /** The path of the file, relative to the directory of the imported file. */
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
  /** If undefined, the turn follows from the previous messages. */
  turnNumber: number | undefined;
  body: string;
  /** The number of the message that this one replies to, from 1. */
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

/** The fields whose values are the same in every workspace. A field that the source does not have is undefined. */
type PlainFields = { [Name in FieldOf<PlainKind>]?: FieldValue<Name> | undefined } & {
  [Name in FieldOf<PlainKind> & RequiredField]: FieldValue<Name>;
};

/** An issue in the form into which every source is converted before it is imported. */
export interface ImportedIssue extends PlainFields {
  sourceId: string;
  /** The code of its team; undefined for the team that the user has chosen. */
  teamCode?: string | undefined;
  /**
   * Matched by name if the team has such a status, otherwise by a code of `statusCategory`. Open means the initial
   * status, as does undefined for a source that has only names or no status.
   */
  status: { name?: string | undefined; category: number | undefined };
  /** The reporter; undefined if the source names none. */
  reporter: ImportedPerson | undefined;
  primaryAssignee: ImportedPerson | undefined;
  /** The other assignees. */
  assignees: ImportedPerson[];
  labels: string[];
  /** Labels of the workspace whose names mean labels of the team in `labels`; undefined if there are none. */
  workspaceLabels?: string[] | undefined;
  parentSourceId: string | undefined;
  /** The project and the delivery are null if the issue has none, and undefined if the source has no such data. */
  projectKey?: string | null | undefined;
  deliveryNumber?: number | null | undefined;
  createdUtc: Date | undefined;
  updatedUtc: Date | undefined;
  closedUtc: Date | undefined;
  comments: ImportedComment[];
  links: ImportedLink[];
  /** Undefined if the source does not have roles. */
  roleAssignments: { role: string; person: ImportedPerson }[] | undefined;
  /** The subscribers. If undefined, the reporter, the assignees and the commenters are subscribed. */
  subscribers: ImportedPerson[] | undefined;
  /**
   * These five are undefined if the source does not have such data, and in exports of older versions. Undefined fields
   * are not part of the fingerprint, so issues in those files still count as unchanged.
   */
  deletedUtc?: Date | undefined;
  activity?: ImportedActivity[] | undefined;
  attachments?: ImportedAttachment[] | undefined;
  agentThread?: ImportedThread | undefined;
  stages?: ImportedStage[] | undefined;
  /** Data without a column here, which is stored unchanged in the source record. */
  relations: unknown[];
  fields: Record<string, unknown>;
}

/** A line of a file, converted. `bytesRead` is the number of bytes of text up to its end. */
export type SourceLine = { readonly line: number; readonly bytesRead: number } & LineContent;
export type LineContent =
  | { readonly kind: 'issue'; readonly issue: ImportedIssue; readonly warnings?: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }
  /** An issue that was deleted in the source. Other issues may refer to it as their parent. */
  | { readonly kind: 'tombstone'; readonly sourceId: string }
  /** A known kind of record that is not an issue and is not imported. */
  | { readonly kind: 'other' };
