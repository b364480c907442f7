import { limits } from '../../schema/builder/limits.ts';
import { creation, list, record, required } from '../body.ts';
import {
  AgentMessageCreateDocument,
  AgentThreadDocument,
  AgentThreadMessagesDocument,
  type MessageType,
} from '../operations.generated.ts';
import { created, item } from '../reply.ts';
import { route } from '../route.ts';
import { agentConversation, agentThread, agentThreadMessage } from '../shapes/agent-threads.ts';
import { code, id, integer, text } from '../values.ts';
import { issueKey } from './issue-key.ts';

const absent = 'There is no such issue, or nobody has written to its agent yet.';

/** GET /v1/issues/{issueKey}/agent-thread */
export const thread = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/agent-thread',
  scope: 'issues:read',
  summary: 'Reads the conversation of an issue with the agent, without its messages.',
  parameters: { issueKey },
  operation: AgentThreadDocument,
  variables: (p) => ({ key: p.issueKey }),
  pick: (data) => data.issue?.agentThread,
  reply: item(agentThread),
  absent,
});

/** GET /v1/issues/{issueKey}/agent-thread/messages */
export const threadMessages = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/agent-thread/messages',
  scope: 'issues:read',
  summary: `Reads the conversation of an issue with the agent: the newest ${limits.threadMessages.toLocaleString('en')} messages, oldest first.`,
  parameters: { issueKey },
  operation: AgentThreadMessagesDocument,
  variables: (p) => ({ key: p.issueKey }),
  pick: (data) => data.issue?.agentThread,
  reply: item(agentConversation),
  absent,
});

const shortText = { minLength: 1, maxLength: limits.title } as const;

/** POST /v1/issues/{issueKey}/agent-thread/messages */
export const messageCreate = route({
  method: 'POST',
  path: '/v1/issues/{issueKey}/agent-thread/messages',
  scope: 'issues:write',
  summary: 'Writes a message to the agent of an issue, or as the agent; the first one begins the thread.',
  parameters: { issueKey },
  body: creation({
    body: required(text('What it says, as plain text.', { minLength: 1, maxLength: limits.comment })),
    messageType: code<MessageType>(
      'MessageType',
      'What the message is; a prompt of people and a response of agents when left out:',
    ),
    turnNumber: integer(
      'The turn that it belongs to: at most the one after the current turn of the thread, 1 in a new thread. The current one when left out, or the next when a person writes after a completed or failed one.',
      { minimum: 0 },
    ),
    replyToMessageId: id('message', 'The message of the same thread that it answers.'),
    followUpActions: list(
      record('FollowUpActionInput', {
        name: text('What people read.', shortText),
        key: text('What it is known by to the agent.', shortText),
        color: text('The color code; empty when none.', { maxLength: limits.title }),
      }),
      'The next steps that it offers.',
      limits.followUpActions,
    ),
  }),
  operation: AgentMessageCreateDocument,
  variables: (p, fields) => ({ input: { issueKey: p.issueKey, ...fields } }),
  pick: (data) => data.agentMessageCreate.message,
  reply: created(agentThreadMessage),
  failures: ['conflict'],
});
