import { limits } from '../../model/limits.ts';
import { bodyOf, list, record, required } from '../body.ts';
import {
  AgentMessageCreateDocument,
  AgentThreadDocument,
  AgentThreadMessagesDocument,
  type MessageType,
} from '../operations.generated.ts';
import { created, item, newest } from '../replies.ts';
import { route } from '../route.ts';
import { agentConversation, agentThread, agentThreadMessage } from '../shapes/agent-threads.ts';
import { code, id, integer, text } from '../values.ts';
import { issueKey } from './issue-key.ts';

const notFoundMessage = 'There is no such issue, or it has no messages to an agent yet.';

/** GET /v1/issues/{issueKey}/agent-thread */
export const thread = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/agent-thread',
  scope: 'issues:read',
  summary: 'Reads the agent thread of an issue, without its messages.',
  parameters: { issueKey },
  operation: AgentThreadDocument,
  variables: (p) => ({ key: p.issueKey }),
  pick: 'issue.agentThread',
  reply: item(agentThread),
  notFoundMessage,
});

/** GET /v1/issues/{issueKey}/agent-thread/messages */
export const threadMessages = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/agent-thread/messages',
  scope: 'issues:read',
  summary: `Reads the messages of the agent thread of an issue: the newest ${limits.threadMessages.toLocaleString('en')}, or fewer if these are too long for one answer, oldest first.`,
  parameters: { issueKey },
  operation: AgentThreadMessagesDocument,
  variables: (p) => ({ key: p.issueKey, last: limits.threadMessages }),
  pick: 'issue.agentThread',
  reply: newest(agentConversation, 'The agent thread and its messages.'),
  notFoundMessage,
});

const shortText = { minLength: 1, maxLength: limits.title } as const;

/** POST /v1/issues/{issueKey}/agent-thread/messages */
export const messageCreate = route({
  method: 'POST',
  path: '/v1/issues/{issueKey}/agent-thread/messages',
  scope: 'issues:write',
  summary:
    'Writes a message to the agent of an issue, or as the agent. The first message creates the thread.',
  parameters: { issueKey },
  body: bodyOf({
    body: required(
      text('The text of the message, as plain text.', { minLength: 1, maxLength: limits.comment }),
    ),
    messageType: code<MessageType>(
      'MessageType',
      'The type of the message. The default is a prompt for people and a response for agents:',
    ),
    turnNumber: integer(
      'The number of the turn: at most the one after the current turn of the thread, and 1 in a new thread. The default is the current turn, or the next one when a person writes after a completed or failed turn.',
      { minimum: 0 },
    ),
    replyToMessageId: id('message', 'The message of the same thread that this one answers.'),
    followUpActions: list(
      record('FollowUpActionInput', {
        name: text('The text that people see.', shortText),
        key: text('The key by which the agent recognizes the action.', shortText),
        color: text('The color code; empty for no color.', { maxLength: limits.title }),
      }),
      'The next steps that the message offers.',
      limits.followUpActions,
    ),
  }),
  operation: AgentMessageCreateDocument,
  variables: (p, fields) => ({ input: { issueKey: p.issueKey, ...fields } }),
  pick: 'agentMessageCreate.message',
  reply: created(agentThreadMessage),
  failures: ['conflict'],
});
