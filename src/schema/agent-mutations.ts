import { limits } from '../model/limits.ts';
import { createAgentMessage, type WrittenMessage } from '../resolvers/agents/agent-messages.ts';
import { AgentThreadMessage } from './agent-messages.ts';
import { AgentThread } from './agent-threads.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { MessageType } from './builder/enums.ts';
import { issueKey } from './issue-key.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';

const FollowUpActionInput = builder.inputType('FollowUpActionInput', {
  description: 'A next step for an agent message to offer.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'The label that people read, 1 to 255 characters, not only white space.',
    }),
    key: t.string({
      required: true,
      description:
        'The key by which the agent recognizes the action, 1 to 255 characters, not only white space.',
    }),
    color: t.string({
      required: true,
      description: `The color code, up to ${limits.actionColor} characters; may be empty.`,
    }),
  }),
});

const AgentMessageCreateInput = builder.inputType('AgentMessageCreateInput', {
  description: 'The message to write to the agent thread of an issue.',
  fields: (t) => ({
    issueKey: issueKey(t),
    body: t.string({
      required: true,
      description: 'The body as plain text, 1 to 50,000 characters, not only white space.',
    }),
    messageType: t.field({
      type: MessageType,
      description:
        'The type of the message. When omitted, it is PROMPT for a person and RESPONSE for an agent.',
    }),
    turnNumber: t.int({
      description:
        'The turn that the message belongs to: at most one more than the current turn of the thread, and 1 in a new thread. When omitted, it is the current turn, or the next one if a person writes after a completed or failed turn.',
    }),
    replyToMessageId: t.id({
      extensions: naming('id', 'message'),
      description: 'The message of the same thread that it answers.',
    }),
    followUpActions: t.field({
      type: [FollowUpActionInput],
      description: `The next steps that the message offers, at most ${limits.followUpActions}.`,
    }),
  }),
});

const AgentMessageCreatePayload = builder.objectRef<WrittenMessage>('AgentMessageCreatePayload').implement({
  description: 'The result of writing the message.',
  scope: 'inherited',
  fields: (t) => ({
    message: t.expose('message', { type: AgentThreadMessage.ref, description: 'The message.' }),
    thread: t.expose('thread', { type: AgentThread.ref, description: 'The thread, after the change.' }),
    issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
  }),
});

mutation('agentMessageCreate', AgentMessageCreateInput, AgentMessageCreatePayload, createAgentMessage, {
  description: 'Writes a message to the agent thread of an issue. The first message creates the thread.',
  scope: 'issues:write',
  events: ['agent-message.created.v1'],
});
