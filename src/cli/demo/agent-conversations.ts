import type { Row } from '../../db/tables/tables.ts';
import { nextThread } from '../../resolvers/agent-turns.ts';
import { authorType, messageType } from '../../model/codes.ts';
import type { AgentStory, StoryMessage } from './agent-stories.ts';
import { later, minuteMs } from './calendar.ts';
import type { IssueRecord } from './issue-record.ts';
import type { Scene } from './lifecycle.ts';
import type { PersonKey } from './people.ts';
import { type DemoMember, memberOf, missing, type World } from './world.ts';

type Thread = Row<'agentThread'>;

/** The conversation of one issue with the agent: its story, and the thread as far as it has come. */
export interface AgentConversation {
  readonly story: AgentStory;
  readonly messageIds: string[];
  readonly origin: Pick<
    Thread,
    'workspaceId' | 'issueId' | 'applicationId' | 'applicationInstallationId' | 'agentUserAccountId'
  >;
  thread: Thread | undefined;
}

/** Installs the agents: the one that answers by default, and another one. */
export function addAgents(world: World): void {
  for (const key of ['tern', 'pilot'] satisfies PersonKey[]) {
    const agent = memberOf(world, key);
    world.rows.agentInstallation.push({
      workspaceId: world.workspaceId,
      id: world.ids.uuid(agent.joinedMs),
      applicationId: world.ids.uuid(agent.joinedMs),
      agentUserAccountId: agent.userAccountId,
      isDefault: key === 'tern',
      createdUtc: new Date(agent.joinedMs),
    });
  }
}

export function conversationOf(world: World, record: IssueRecord, story: AgentStory): AgentConversation {
  const installation =
    world.rows.agentInstallation.find((row) => row.isDefault) ?? missing('agent', 'by default');
  const { id, applicationId, agentUserAccountId } = installation;
  const origin = {
    workspaceId: world.workspaceId,
    issueId: record.id,
    applicationId,
    applicationInstallationId: id,
    agentUserAccountId,
  };
  return { story, messageIds: [], origin, thread: undefined };
}

/** Plans the messages of a conversation that is over for now; one that goes on has its place after all else. */
export function planConversation(scene: Scene, conversation: AgentConversation, startedMs: number): number {
  const { story } = conversation;
  if (story.minutesAgo !== undefined) return startedMs;
  let atMs = later(startedMs, scene.random, 1, 8);
  for (const message of story.messages) {
    atMs += message.after * minuteMs;
    scene.agenda.add(atMs, (atMs) => post(scene, conversation, message, atMs));
  }
  return atMs;
}

/** Posts what must be minutes old, counted back from now, and adds the thread's row. */
export function finishConversation(scene: Scene, conversation: AgentConversation): void {
  const { messages, minutesAgo } = conversation.story;
  if (minutesAgo !== undefined) {
    const lengthMinutes = messages.reduce((sum, message) => sum + message.after, 0);
    let atMs = scene.world.calendar.nowMs - (minutesAgo + lengthMinutes) * minuteMs;
    for (const message of messages) {
      atMs += message.after * minuteMs;
      post(scene, conversation, message, atMs);
    }
  }
  if (conversation.thread) scene.world.rows.agentThread.push(conversation.thread);
}

/** Adds the message and moves the thread on as the service does. */
function post(scene: Scene, conversation: AgentConversation, message: StoryMessage, atMs: number): void {
  const { world, record } = scene;
  const { origin, messageIds, thread: before } = conversation;
  const author = authorOf(scene, message);
  const { turnNumber, thread } = nextThread(before, {
    authorType: authorType[message.by === 'person' ? 'user' : message.by],
    messageType: messageType[message.type],
    turnNumber: undefined,
    body: message.body,
    nowUtc: new Date(atMs),
  });
  const threadId = before?.id ?? world.ids.uuid(atMs);
  const id = world.ids.uuid(atMs);
  conversation.thread = { ...origin, id: threadId, ...thread, revision: thread.messageCount };
  world.rows.agentThreadMessage.push({
    ...origin,
    id,
    threadId,
    sortOrder: messageIds.push(id),
    authorUserAccountId: author.userAccountId,
    authorType: thread.lastMessageAuthorType,
    messageType: thread.lastMessageType,
    turnNumber,
    body: message.body,
    replyToMessageId: message.replyTo === undefined ? null : (messageIds[message.replyTo] ?? null),
    followUpActions: JSON.stringify(message.followUpActions ?? []),
    createdUtc: thread.lastMessageUtc,
  });
  record.log(atMs, { eventType: 'agent-message.created.v1', actor: author, deed: deeds[message.type] });
}

const deeds: Record<StoryMessage['type'], string> = {
  prompt: 'wrote to the agent',
  thought: 'shared a thought',
  action: 'took an action',
  elicitation: 'asked a question',
  response: 'responded',
  error: 'reported an error',
};

function authorOf({ world, worker }: Scene, message: StoryMessage): DemoMember {
  if (message.by === 'person') return worker;
  return memberOf(world, message.by === 'agent' ? 'tern' : 'release');
}
