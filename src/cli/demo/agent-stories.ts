import type { messageType } from '../../model/codes.ts';
import { liveStories } from './agent-stories-live.ts';
import { pastStories } from './agent-stories-past.ts';
import type { TeamCode } from './team-list.ts';
import type { Kind } from './topics.ts';

export interface StoryMessage {
  readonly by: 'person' | 'agent' | 'system';
  readonly type: keyof typeof messageType;
  readonly body: string;
  /** Minutes since the message before. */
  readonly after: number;
  readonly followUpActions?: readonly { name: string; key: string; color: string }[];
  /** The place of the message that this one answers. */
  readonly replyTo?: number;
}

/** An issue on which people and the agent talk, and where the issue is left afterwards. */
export interface AgentStory {
  readonly team: TeamCode;
  readonly kind: Kind;
  readonly title: string;
  readonly description: string;
  readonly daysAgo: number;
  readonly ending: 'active' | 'review' | 'done';
  /** Of a conversation that goes on: minutes since its last message. The others are days old. */
  readonly minutesAgo?: number;
  readonly messages: readonly StoryMessage[];
}

/** Conversations with the agent that end in every status of a thread, stale ones among them. */
export const agentStories: readonly AgentStory[] = [...pastStories, ...liveStories];
