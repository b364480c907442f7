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
}

export interface ImportedLink {
  url: string;
  title: string;
  createdUtc: Date | undefined;
  createdBy: ImportedPerson | undefined;
}

/** One issue as a source gives it: what every source is brought to before anything is written. */
export interface ImportedIssue {
  sourceId: string;
  /** The code of its team; undefined for the one that the import is told. */
  teamCode?: string | undefined;
  title: string;
  description: string;
  /** By name when the team has it, else by a code of `statusCategory`; open means the initial status. */
  status: { name?: string | undefined; category: number };
  priority: number;
  /** Who reported it; undefined for nobody in particular. */
  reporter: ImportedPerson | undefined;
  primaryAssignee: ImportedPerson | undefined;
  /** The other assignees. */
  assignees: ImportedPerson[];
  labels: string[];
  parentSourceId: string | undefined;
  /** These four are null for none, and undefined in a source that knows nothing of the kind. */
  projectKey?: string | null | undefined;
  deliveryNumber?: number | null | undefined;
  estimateValue?: number | null | undefined;
  dueDate?: string | null | undefined;
  createdUtc: Date | undefined;
  updatedUtc: Date | undefined;
  closedUtc: Date | undefined;
  comments: ImportedComment[];
  links: ImportedLink[];
  /** Undefined in a source that knows no roles. */
  roleAssignments: { role: string; person: ImportedPerson }[] | undefined;
  /** Who follows it; undefined for whoever the service would have follow it. */
  subscribers: ImportedPerson[] | undefined;
  /** What we have no column for: it is kept as it is. */
  relations: unknown[];
  fields: Record<string, unknown>;
}

/** What a source makes of one line of a file. */
export type SourceLine = { readonly line: number; readonly bytesRead: number } & LineContent;
export type LineContent =
  | { readonly kind: 'issue'; readonly issue: ImportedIssue; readonly warnings?: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }
  /** An issue that was deleted in the source; its id may be a parent's. */
  | { readonly kind: 'tombstone'; readonly sourceId: string };
