import { authorType, codeTables, messageType } from '../../model/codes.ts';
import type {
  ImportedActivity,
  ImportedAttachment,
  ImportedMessage,
  ImportedStage,
  ImportedThread,
} from '../../portability/import/import-issue.ts';
import { personParser } from './ndjson-people.ts';
import type { RecordReader } from './record-reader.ts';

/** Converts an entry of an issue's `activity`. */
export function activityOf(entry: RecordReader): ImportedActivity {
  return {
    eventType: entry.text('eventType') ?? '',
    actor: entry.person('actor', personParser),
    occurredUtc: entry.time('occurredUtc'),
    text: entry.text('text') ?? '',
  };
}

/** Converts an entry of an issue's `attachments`. */
export function attachmentOf(attachment: RecordReader): ImportedAttachment {
  const file = attachment.text('file') ?? '';
  return {
    file,
    fileName: attachment.trimmedText('fileName') ?? file.slice(file.lastIndexOf('/') + 1),
    contentType: attachment.trimmedText('contentType') ?? '',
    uploadedBy: attachment.person('uploadedBy', personParser),
    createdUtc: attachment.time('createdUtc'),
    uploadedUtc: attachment.time('uploadedUtc'),
  };
}

/** Converts an entry of an issue's `stages`. */
export function stageOf(stage: RecordReader): ImportedStage {
  return {
    sinceUtc: stage.time('sinceUtc'),
    statusName: stage.trimmedText('status'),
    projectKey: stage.trimmedText('project'),
    deliveryNumber: stage.nonNegativeInteger('delivery'),
    estimateValue: stage.nonNegativeInteger('estimateValue'),
    deleted: stage.isTrue('deleted'),
  };
}

/** Converts an issue's `agentThread`. */
export function threadOf(thread: RecordReader): ImportedThread {
  return {
    agent: thread.person('agent', personParser),
    messages: thread.objects('messages', messageOf) ?? [],
  };
}

function messageOf(message: RecordReader): ImportedMessage {
  const author = message.code('authorType', codeTables.authorType) ?? authorType.user;
  const defaultType = author === authorType.agent ? messageType.response : messageType.prompt;
  return {
    authorType: author,
    author: message.person('author', personParser),
    messageType: message.code('messageType', codeTables.messageType) ?? defaultType,
    turnNumber: message.nonNegativeInteger('turnNumber'),
    body: message.text('body') ?? '',
    replyTo: message.nonNegativeInteger('replyTo'),
    followUpActions:
      message.objects('followUpActions', (action) => ({
        name: action.text('name') ?? '',
        key: action.text('key') ?? '',
        color: action.text('color') ?? '',
      })) ?? [],
    createdUtc: message.time('createdUtc'),
  };
}
