import { createAgentMessage, type MessageWritten } from '../resolvers/agent-messages.ts';
import { AgentThreadMessage } from './agent-messages.ts';
import { AgentThread } from './agent-threads.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { MessageType } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';

const FollowUpActionInput = builder.inputType('FollowUpActionInput', {
  description: 'A next step for a message to offer.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'What people read, 1 to 255 characters, not white space alone.',
    }),
    key: t.string({
      required: true,
      description: 'What it is known by to the agent, 1 to 255 characters, not white space alone.',
    }),
    color: t.string({
      required: true,
      description: 'The color code, up to 255 characters; empty when none.',
    }),
  }),
});

const AgentMessageCreateInput = builder.inputType('AgentMessageCreateInput', {
  description: 'A message to be written to the agent thread of an issue.',
  fields: (t) => ({
    issueKey: t.string({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The key of the issue, in any case; its id is taken too.',
    }),
    body: t.string({
      required: true,
      description: 'What it says, as plain text of 1 to 50,000 characters, not white space alone.',
    }),
    messageType: t.field({
      type: MessageType,
      description: 'What the message is; when left out a PROMPT of people, a RESPONSE of agents.',
    }),
    turnNumber: t.int({
      description:
        'The turn that it belongs to: from 0 to the one after the current turn of the thread, 1 in a new thread. When left out the current one, or the next when a person writes after a completed or failed turn.',
    }),
    replyToMessageId: t.id({
      extensions: naming('id', 'message'),
      description: 'The message of the same thread that it answers.',
    }),
    followUpActions: t.field({
      type: [FollowUpActionInput],
      description: 'The next steps that it offers, at most 10.',
    }),
  }),
});

const AgentMessageCreatePayload = builder.objectRef<MessageWritten>('AgentMessageCreatePayload').implement({
  description: 'The message that was written.',
  fields: (t) => ({
    message: t.expose('message', { type: AgentThreadMessage.ref, description: 'The message.' }),
    thread: t.expose('thread', { type: AgentThread.ref, description: 'The thread as it is now.' }),
    issue: t.expose('issue', { type: Issue.ref, description: 'Its issue as it is now.' }),
  }),
});

mutation('agentMessageCreate', AgentMessageCreateInput, AgentMessageCreatePayload, createAgentMessage, {
  description: 'Writes a message to the agent thread of an issue; the first one begins the thread.',
});
