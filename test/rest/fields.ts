import { expect } from '@jest/globals';

/** The types of fields in the specification's tables, with `?` where contract.md permits null. */
type FieldType =
  | 'string'
  | 'integer'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'strings'
  | 'richText'
  | 'integer?'
  | 'string?'
  | 'timestamp?'
  | 'date?';

/** A table of the specification. A nested table is an object, and a list of objects is an array. */
export interface FieldTable {
  readonly [field: string]: FieldType | FieldTable | readonly [FieldTable] | { readonly orNull: FieldTable };
}

const strings = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 'string'])) as Record<Name, 'string'>;

export const pagination: FieldTable = {
  pageSize: 'integer',
  cursor: 'string',
  nextCursor: 'string',
  hasMore: 'boolean',
  returnedCount: 'integer',
  totalCount: 'integer',
};

export const problem: FieldTable = {
  type: 'string',
  title: 'string',
  status: 'integer',
  detail: 'string',
  code: 'string',
  requestId: 'string',
  errors: [strings('field', 'message')],
};

export const team: FieldTable = {
  ...strings('id', 'workspaceId', 'name', 'code', 'slug', 'description', 'iconCss', 'color', 'state'),
  ...strings('leadUserAccountId', 'leadDisplayName', 'leadAvatarUrl'),
  memberCount: 'integer',
  activeProjectCount: 'integer',
  deliveriesEnabled: 'boolean',
};

export const teamDetail: FieldTable = { ...team, nextIssueNumber: 'integer' };

export const comment: FieldTable = {
  ...strings('id', 'parentCommentId', 'authorUserAccountId', 'authorDisplayName', 'authorAvatarUrl'),
  parentAuthorDisplayName: 'string',
  body: 'richText',
  canManage: 'boolean',
  isEdited: 'boolean',
  createdUtc: 'timestamp',
  updatedUtc: 'timestamp',
};

const status: FieldTable = {
  ...strings('statusId', 'id', 'name', 'description', 'color', 'category'),
  position: 'integer',
  isInitial: 'boolean',
  isTerminal: 'boolean',
};

const delivery: FieldTable = {
  deliveryId: 'string',
  teamId: 'string',
  number: 'integer',
  name: 'string',
  description: 'string',
  startsOn: 'date',
  endsOn: 'date',
  state: 'string',
  issueCount: 'integer',
  closedIssueCount: 'integer',
  estimatedScope: 'integer',
  closedEstimate: 'integer',
  isCurrent: 'boolean',
  isUpcoming: 'boolean',
};

const label: FieldTable = {
  ...strings('labelId', 'id'),
  isGroup: 'boolean',
  ...strings('name', 'description', 'color', 'teamId', 'groupId', 'groupName'),
};

export const issue: FieldTable = {
  ...strings(
    'id',
    'key',
    'title',
    'description',
    'teamId',
    'teamCode',
    'teamName',
    'teamIconCss',
    'teamColor',
  ),
  ...strings('reporterUserAccountId', 'reporterDisplayName', 'reporterAvatarUrl'),
  parentIssueId: 'string?',
  statusId: 'string',
  priority: 'integer',
  primaryAssigneeUserAccountId: 'string?',
  projectId: 'string?',
  deliveryId: 'string?',
  assigneeUserAccountIds: 'strings',
  labelIds: 'strings',
  status,
  project: { orNull: strings('projectId', 'id', 'teamId', 'name', 'key', 'iconCss', 'color') },
  delivery: { orNull: delivery },
  assignees: [{ ...strings('userAccountId', 'displayName', 'avatarUrl'), principalKind: 'integer' }],
  roleAssignments: [strings('role', 'userAccountId', 'displayName')],
  labels: [label],
  commentCount: 'integer',
  subIssueCount: 'integer',
  linkCount: 'integer',
  estimateValue: 'integer?',
  dueDate: 'date?',
  createdUtc: 'timestamp',
  updatedUtc: 'timestamp',
  lastActivityUtc: 'timestamp?',
  lastCommentUtc: 'timestamp?',
  closedUtc: 'timestamp?',
  isSubscribed: 'boolean',
};

/** Expects exactly the fields of the table, in its order and with its types. */
export function expectFields(value: unknown, table: FieldTable): void {
  expect(mistakes(value, table, '')).toEqual([]);
}

function mistakes(value: unknown, table: FieldTable, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${at} is not an object`];
  const found = Object.keys(value).join(' ');
  const expected = Object.keys(table).join(' ');
  if (found !== expected) return [`${at} has the fields ${found} and not ${expected}`];
  const record = value as Record<string, unknown>;
  return Object.entries(table).flatMap(([name, type]) => fieldMistakes(record[name], type, `${at}.${name}`));
}

function fieldMistakes(value: unknown, type: FieldTable[string], at: string): string[] {
  if (typeof type === 'string')
    return isOf(type, value) ? [] : [`${at} is ${JSON.stringify(value)} and no ${type}`];
  if (isList(type)) {
    if (!Array.isArray(value)) return [`${at} is not a list`];
    return value.flatMap((each, index) => mistakes(each, type[0], `${at}[${index}]`));
  }
  if ('orNull' in type) return value === null ? [] : mistakes(value, type.orNull as FieldTable, at);
  return mistakes(value, type, at);
}

function isList(type: object): type is readonly [FieldTable] {
  return Array.isArray(type);
}

function isOf(type: FieldType, value: unknown): boolean {
  if (type.endsWith('?')) return value === null || isOf(type.slice(0, -1) as FieldType, value);
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'timestamp':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
    case 'date':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);
    case 'strings':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    case 'richText':
      return isRichText(value);
    default:
      return typeof value === 'string';
  }
}

function isRichText(value: unknown): boolean {
  const text = value as { schemaVersion: number; content: { type: string; content: { type: string }[] } };
  return (
    text.schemaVersion === 1 &&
    text.content.type === 'doc' &&
    text.content.content.every(({ type }) => type === 'paragraph')
  );
}
