import { type FeedEventType, isFeedEventType } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { mediaTypeOf, unknownMediaType } from '../../resolvers/attachments/media-types.ts';
import type {
  ImportedActivity,
  ImportedAttachment,
  ImportedMessage,
  ImportedThread,
} from './import-issue.ts';
import { cleanPerson, cut, firstOf, laterTime } from './import-texts.ts';

export interface CleanActivity extends ImportedActivity {
  eventType: FeedEventType;
  occurredUtc: Date;
}

export interface CleanAttachment extends ImportedAttachment {
  /** The name and the time in the source, by which later imports recognize it. */
  key: string;
  createdUtc: Date;
  uploadedUtc: Date;
}

export interface CleanMessage extends ImportedMessage {
  createdUtc: Date;
}

export interface CleanThread extends ImportedThread {
  messages: CleanMessage[];
}

/**
 * The entries of a feed in chronological order, none before the issue's creation. Entries of unknown types are skipped.
 */
export function cleanActivity(
  raw: readonly ImportedActivity[] | undefined,
  createdUtc: Date,
  warnings: string[],
): CleanActivity[] | undefined {
  if (!raw) return undefined;
  const entries = raw.flatMap((entry): CleanActivity[] => {
    const { eventType, actor, text } = entry;
    if (!isFeedEventType(eventType) || text.trim() === '') return [];
    return [
      {
        eventType,
        actor: actor && cleanPerson(actor, warnings),
        occurredUtc: laterTime(entry.occurredUtc ?? createdUtc, createdUtc),
        text: cut(text, limits.activity, 'an entry of the activity feed', warnings),
      },
    ];
  });
  const skipped = raw.length - entries.length;
  if (skipped > 0)
    warnings.push(`${skipped} entries of the activity feed without a text or of an unknown type are skipped`);
  return entries.toSorted((left, right) => left.occurredUtc.getTime() - right.occurredUtc.getTime());
}

/** Attachments with names and types that fit the tables. Attachments without a file or a name are skipped. */
export function cleanAttachments(
  raw: readonly ImportedAttachment[] | undefined,
  issueCreatedUtc: Date,
  warnings: string[],
): CleanAttachment[] | undefined {
  return raw?.flatMap((attachment): CleanAttachment[] => {
    const fileName = cut(attachment.fileName.trim(), limits.fileName, 'the name of a file', warnings);
    if (attachment.file === '' || fileName === '') {
      warnings.push('an attachment without a file or a name is skipped');
      return [];
    }
    const createdUtc = attachment.createdUtc ?? issueCreatedUtc;
    return [
      {
        key: `${attachment.createdUtc?.toISOString() ?? ''} ${fileName}`,
        file: attachment.file,
        fileName,
        contentType: mediaTypeOf(attachment.contentType) ?? unknownMediaType,
        uploadedBy: attachment.uploadedBy && cleanPerson(attachment.uploadedBy, warnings),
        createdUtc,
        uploadedUtc: laterTime(attachment.uploadedUtc ?? createdUtc, createdUtc),
      },
    ];
  });
}

/** A thread with the messages that have a text, none earlier than the one before it; undefined if there are none. */
export function cleanThread(
  raw: ImportedThread | undefined,
  issueCreatedUtc: Date,
  warnings: string[],
): CleanThread | undefined {
  if (!raw) return undefined;
  const numbers = new Map<number, number>();
  const messages: CleanMessage[] = [];
  for (const [index, message] of raw.messages.entries()) {
    const label = `message ${index + 1} of the agent thread`;
    if (message.body.trim() === '' || messages.length >= limits.threadMessages) {
      warnings.push(`${label} is skipped: it is empty, or there are more than ${limits.threadMessages}`);
      continue;
    }
    const before = messages.at(-1)?.createdUtc ?? issueCreatedUtc;
    messages.push({
      ...message,
      author: message.author && cleanPerson(message.author, warnings),
      body: cut(message.body, limits.comment, label, warnings),
      replyTo: message.replyTo === undefined ? undefined : numbers.get(message.replyTo),
      followUpActions: firstOf(
        message.followUpActions,
        limits.followUpActions,
        `follow-up actions of ${label}`,
        warnings,
      ).map((action) => cleanAction(action, label, warnings)),
      createdUtc: laterTime(message.createdUtc ?? before, before),
    });
    numbers.set(index + 1, messages.length);
  }
  if (messages.length === 0) return undefined;
  return { agent: raw.agent && cleanPerson(raw.agent, warnings), messages };
}

type FollowUpAction = ImportedMessage['followUpActions'][number];

function cleanAction(action: FollowUpAction, message: string, warnings: string[]): FollowUpAction {
  const fitting = (field: keyof FollowUpAction) =>
    cut(action[field], limits.title, `the ${field} of a follow-up action of ${message}`, warnings);
  return { name: fitting('name'), key: fitting('key'), color: fitting('color') };
}
