import { randomBytes } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { uuidOf } from '../type-id.ts';
import { commentCreate, commentsOfIssue } from './comments.ts';
import { dashboard } from './dashboard.ts';
import { query } from './database.ts';
import { issueCreate, issuePatch } from './issue-writes.ts';
import { issuePage, issuesOfTeam, issueWithComments } from './issues.ts';

export interface Reply {
  status: number;
  body: string;
}

interface Route {
  readonly scopes: readonly string[];
  readonly run: (caller: Caller, input: Record<string, unknown>) => Promise<Reply>;
}

interface Key {
  readonly code: string;
  readonly number: number;
}

const bad: Reply = { status: 400, body: '{"code":"validation_failed"}' };
const absent: Reply = { status: 404, body: '{"code":"not_found"}' };

const dashboardRoute = (name: string, text: string): Route => ({
  scopes: ['teams:read', 'projects:read', 'issues:read'],
  run: async ({ workspaceId }, { codes }) => {
    if (!Array.isArray(codes) || !codes.every((code) => typeof code === 'string')) return bad;
    return one(query(name, text, [workspaceId, codes]));
  },
});

export const routes: Readonly<Record<string, Route>> = {
  W1: dashboardRoute('W1', dashboard({})),
  W1t: dashboardRoute('W1t', dashboard({ totals: true })),
  W1f: dashboardRoute('W1f', dashboard({ openOnly: true })),
  W2: {
    scopes: ['issues:read'],
    run: async ({ workspaceId, userAccountId }, { teamId, before }) => {
      const team = uuidOf('team', teamId);
      if (!team || !isTime(before)) return bad;
      return one(query('W2', issuesOfTeam, [workspaceId, userAccountId, team, before]));
    },
  },
  W3: {
    scopes: ['issues:read'],
    run: async ({ workspaceId, userAccountId, managesAll }, { key }) => {
      const { code, number } = keyOf(key) ?? {};
      return one(query('W3', issueWithComments, [workspaceId, userAccountId, code, number, managesAll]));
    },
  },
  W4: {
    scopes: ['issues:write'],
    run: async ({ workspaceId, userAccountId }, input) => {
      const values = issueValues(input);
      return values ? one(query('W4', issueCreate, [workspaceId, userAccountId, ...values]), bad) : bad;
    },
  },
  W5: {
    scopes: ['issues:write'],
    run: async ({ workspaceId, userAccountId, displayName }, { issueKey, body }) => {
      const key = keyOf(issueKey);
      if (!key || !isText(body, 1, 50_000)) return bad;
      const values = [key.code, key.number, body, newUuid(), newUuid(), displayName];
      return one(query('W5', commentCreate, [workspaceId, userAccountId, ...values]));
    },
  },
  W8: {
    scopes: ['issues:read'],
    run: async ({ workspaceId }, { after }) => {
      if (after === undefined) return one(query('W8-first', issuePage(true), [workspaceId]));
      const { createdUtc, id } = after as { createdUtc?: unknown; id?: unknown };
      const uuid = uuidOf('issue', id);
      return uuid && isTime(createdUtc)
        ? one(query('W8', issuePage(false), [workspaceId, createdUtc, uuid]))
        : bad;
    },
  },
};

export async function listComments(caller: Caller, { code, number }: Key, pageSize: number): Promise<Reply> {
  if (pageSize < 1 || pageSize > 250) return bad;
  const { workspaceId, userAccountId, managesAll } = caller;
  const row = await query('W6', commentsOfIssue, [
    workspaceId,
    userAccountId,
    managesAll,
    code,
    number,
    pageSize,
  ]);
  if (!row) return absent;
  const [totalCount, results, last] = row as [number, string, string | null];
  const hasMore = totalCount > pageSize;
  const nextCursor = hasMore ? Buffer.from(last ?? '').toString('base64url') : '';
  const pagination = {
    pageSize,
    cursor: '',
    nextCursor,
    hasMore,
    returnedCount: Math.min(totalCount, pageSize),
    totalCount,
  };
  return { status: 200, body: `{"results":${results},"pagination":${JSON.stringify(pagination)}}` };
}

export async function patchIssue(
  caller: Caller,
  { code, number }: Key,
  input: Record<string, unknown>,
): Promise<Reply> {
  const { workspaceId, userAccountId, displayName } = caller;
  const { title, priority, issueStatusId } = input;
  if (title === undefined && priority === undefined && issueStatusId === undefined) return bad;
  if (title !== undefined && !isText(title, 1, 255)) return bad;
  if (
    priority !== undefined &&
    !(Number.isInteger(priority) && Number(priority) >= 0 && Number(priority) <= 4)
  )
    return bad;
  const status = issueStatusId === undefined ? null : uuidOf('status', issueStatusId);
  if (status === undefined) return bad;
  const folded = title === undefined ? null : fold(title);
  const priorityName = priority === undefined ? null : priorities[Number(priority)]?.toLowerCase();
  const values = [title ?? null, folded, priority ?? null, status, newUuid(), displayName, priorityName];
  const row = await query('W7', issuePatch, [workspaceId, userAccountId, code, number, ...values]);
  return row ? { status: 200, body: String(row[0]) } : absent;
}

async function one(row: Promise<unknown[] | undefined>, none: Reply = absent): Promise<Reply> {
  const [body] = (await row) ?? [];
  return typeof body === 'string' ? { status: 200, body } : none;
}

const priorities = ['NONE', 'URGENT', 'HIGH', 'MEDIUM', 'LOW'];

/** The values of the statement from $3 on; undefined if one is invalid. */
function issueValues(input: Record<string, unknown>): unknown[] | undefined {
  const {
    title,
    description = '',
    priority = 'NONE',
    estimateValue = null,
    dueDate = null,
    labelIds = [],
  } = input;
  const optional = (prefix: string, id: unknown) => (id == null ? null : uuidOf(prefix, id));
  const ids = [
    optional('user', input['primaryAssigneeUserAccountId']),
    optional('project', input['projectId']),
    optional('delivery', input['deliveryId']),
  ];
  const team = uuidOf('team', input['teamId']);
  const status = optional('status', input['statusId']);
  const labels = Array.isArray(labelIds)
    ? [...new Set(labelIds.map((id) => uuidOf('label', id)))]
    : [undefined];
  const code = priorities.indexOf(String(priority));
  const fits =
    isText(title, 1, 255) &&
    isText(description, 0, 100_000) &&
    code >= 0 &&
    labels.length <= 50 &&
    (estimateValue === null || (Number.isInteger(estimateValue) && Number(estimateValue) >= 0)) &&
    (dueDate === null || (typeof dueDate === 'string' && isTime(`${dueDate}T00:00:00.000Z`)));
  if (!fits || [team, status, ...ids, ...labels].includes(undefined)) return undefined;
  return [
    team,
    status,
    title,
    fold(title),
    description,
    code,
    ...ids,
    estimateValue,
    dueDate,
    labels,
    newUuid(),
  ];
}

function isText(text: unknown, min: number, max: number): text is string {
  return (
    typeof text === 'string' &&
    text.length >= min &&
    text.length <= max &&
    !text.includes('\0') &&
    text.isWellFormed()
  );
}

function isTime(text: unknown): text is string {
  return typeof text === 'string' && !Number.isNaN(Date.parse(text));
}

function keyOf(key: unknown): Key | undefined {
  const [, code, number] = /^([A-Za-z][A-Za-z0-9]{0,9})-([1-9]\d{0,8})$/.exec(String(key)) ?? [];
  return code ? { code: code.toUpperCase(), number: Number(number) } : undefined;
}

/** The folded form of a text, as the product stores it for sorting and searching. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ');
}

function newUuid(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
