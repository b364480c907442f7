import type { WebhookChangesQuery } from './operations.generated.ts';
import { agentThreadMessage } from './shapes/agent-threads.ts';
import { change } from './shapes/changes.ts';
import { comment } from './shapes/comments.ts';
import { issue } from './shapes/issues.ts';

/** Longer texts are shortened in messages; a receiver that needs the whole text reads the object. */
const maxTextLength = 8_000;
/** Longer messages contain only the change, without the objects that it is about. */
const maxBodyBytes = 65_536;

/** A message about a change, as it is sent. */
export interface WebhookChangeMessage {
  readonly changeId: string;
  readonly issueId: string | null;
  readonly eventType: string;
  readonly position: number;
  readonly body: string;
}

type Node = WebhookChangesQuery['changes']['nodes'][number];

/**
 * The message about a change: the change, and the current state of the objects that it is about, in the shapes of REST.
 */
export function webhookMessage(node: Node): WebhookChangeMessage {
  const renderedChange = change.render(node);
  const objects = {
    ...(node.issueId !== null && { issue: node.issue && issue.render(node.issue) }),
    ...(node.comment && { comment: comment.render(node.comment) }),
    ...(node.agentMessage && { agentMessage: agentThreadMessage.render(node.agentMessage) }),
  };
  return {
    changeId: node.id,
    issueId: node.issueId,
    eventType: node.eventType,
    position: Number(node.position),
    body: bodyOf(node.eventType, node.occurredUtc, { change: renderedChange, ...objects }),
  };
}

/**
 * The type of the message to a webhook that has missed changes. It is sent instead of the event of this type in the
 * log.
 */
export const lostType = 'changes.lost.v1';

/** The message that changes are missing, because they have been removed from the log. */
export function lostMessage(at: Date, fromCursor: string, toCursor: string): string {
  return bodyOf(lostType, at.toISOString(), { fromCursor, toCursor });
}

function bodyOf(type: string, timestamp: string, data: Record<string, unknown>): string {
  let isTruncated = false;
  const shorten = (_key: string, value: unknown) => {
    if (typeof value !== 'string' || value.length <= maxTextLength) return value;
    isTruncated = true;
    // Half of a surrogate pair at the end would not be a character.
    return value.slice(0, maxTextLength).replace(/[\uD800-\uDBFF]$/, '');
  };
  // The first pass shortens the texts, and only then is it known whether any was too long.
  const shortened = JSON.parse(JSON.stringify(data, shorten)) as Record<string, unknown>;
  const body = JSON.stringify({
    type,
    timestamp,
    data: { ...shortened, ...(isTruncated ? { isTruncated } : {}) },
  });
  if (Buffer.byteLength(body) <= maxBodyBytes) return body;
  return JSON.stringify({ type, timestamp, data: { change: shortened.change, isTruncated: true } });
}
