import type { Row } from '../../db/tables/tables.ts';
import { authorType, messageType, threadStatus } from '../../model/codes.ts';
import { limits } from '../../model/limits.ts';

/** The parts of a new message that determine the next state of the thread. */
export interface TurnMessage {
  authorType: number;
  messageType: number;
  /** If undefined, the turn follows from the thread. */
  turnNumber: number | undefined;
  body: string;
  nowUtc: Date;
}

type ThreadState = Omit<
  Row<'agentThread'>,
  | 'workspaceId'
  | 'id'
  | 'issueId'
  | 'applicationId'
  | 'applicationInstallationId'
  | 'agentUserAccountId'
  | 'revision'
>;

/** The turn of a message, and the state of the thread after it (docs/contract.md, "Agent thread"). */
export function nextThread(
  before: ThreadState | undefined,
  message: TurnMessage,
): { turnNumber: number; thread: ThreadState } {
  const turnNumber = message.turnNumber ?? turnOf(before, message);
  const status = statusAfter(message);
  const completed = before?.lastCompletedTurnNumber ?? 0;
  const thread = {
    status,
    lastMessageAuthorType: message.authorType,
    lastMessageType: message.messageType,
    currentTurnNumber: Math.max(before?.currentTurnNumber ?? 0, turnNumber),
    lastCompletedTurnNumber: status === threadStatus.completed ? Math.max(completed, turnNumber) : completed,
    messageCount: (before?.messageCount ?? 0) + 1,
    lastMessagePreview: preview(message.body),
    lastMessageUtc: message.nowUtc,
    startedUtc: before?.startedUtc ?? message.nowUtc,
  };
  return { turnNumber, thread };
}

/** The turn after the current one of a thread; 1 for a thread without messages. */
export function nextTurn(thread: Pick<Row<'agentThread'>, 'currentTurnNumber'> | undefined): number {
  return (thread?.currentTurnNumber ?? 0) + 1;
}

/** The current turn, or the next one if a person writes after the current turn has ended. */
function turnOf(before: ThreadState | undefined, message: TurnMessage): number {
  if (!before) return nextTurn(before);
  const ended = before.status === threadStatus.completed || before.status === threadStatus.failed;
  return ended && message.authorType === authorType.user ? nextTurn(before) : before.currentTurnNumber;
}

const statuses: Readonly<Record<number, number>> = {
  [messageType.thought]: threadStatus.active,
  [messageType.action]: threadStatus.active,
  [messageType.elicitation]: threadStatus.awaiting_input,
  [messageType.response]: threadStatus.completed,
  [messageType.error]: threadStatus.failed,
};

/** The status after a message. A message of a person, and a prompt of anyone, waits for the agent (`pending`). */
function statusAfter(message: TurnMessage): number {
  if (message.authorType === authorType.user) return threadStatus.pending;
  return statuses[message.messageType] ?? threadStatus.pending;
}

/** The beginning of a body on one line. */
function preview(body: string): string {
  const line = body.replace(/\s+/g, ' ').trim();
  return Array.from(line).slice(0, limits.threadPreview).join('');
}
