import { authorType, codeTables, messageType } from '../../model/codes.ts';
import type {
  ImportedActivity,
  ImportedAttachment,
  ImportedMessage,
  ImportedStage,
  ImportedThread,
} from '../../portability/import/import-issue.ts';
import { personOf } from './ndjson-people.ts';
import { type JsonRecord, recordsOf, textOf, timeOf, wordOf } from './records.ts';

/** Converts an entry of an issue's `activity`. */
export function activityOf(entry: JsonRecord): ImportedActivity {
  return {
    eventType: textOf(entry.eventType) ?? '',
    actor: personOf(entry.actor),
    occurredUtc: timeOf(entry.occurredUtc),
    text: textOf(entry.text) ?? '',
  };
}

/** Converts an entry of an issue's `attachments`. */
export function attachmentOf(attachment: JsonRecord): ImportedAttachment {
  const file = textOf(attachment.file) ?? '';
  return {
    file,
    fileName: wordOf(attachment.fileName) ?? file.slice(file.lastIndexOf('/') + 1),
    contentType: wordOf(attachment.contentType) ?? '',
    uploadedBy: personOf(attachment.uploadedBy),
    createdUtc: timeOf(attachment.createdUtc),
    uploadedUtc: timeOf(attachment.uploadedUtc),
  };
}

/** Converts an entry of an issue's `stages`. */
export function stageOf(stage: JsonRecord): ImportedStage {
  const { delivery, estimateValue, deleted } = stage;
  return {
    sinceUtc: timeOf(stage.sinceUtc),
    statusName: wordOf(stage.status),
    projectKey: wordOf(stage.project),
    deliveryNumber: isNaturalNumber(delivery) ? delivery : undefined,
    estimateValue: isNaturalNumber(estimateValue) ? estimateValue : undefined,
    deleted: deleted === true,
  };
}

/** Converts an issue's `agentThread`. */
export function threadOf(thread: JsonRecord): ImportedThread {
  return { agent: personOf(thread.agent), messages: recordsOf(thread.messages).map(messageOf) };
}

function messageOf(message: JsonRecord): ImportedMessage {
  const author = codeOf(codeTables.authorType, message.authorType) ?? authorType.user;
  const defaultType = author === authorType.agent ? messageType.response : messageType.prompt;
  const { turnNumber, replyTo } = message;
  return {
    authorType: author,
    author: personOf(message.author),
    messageType: codeOf(codeTables.messageType, message.messageType) ?? defaultType,
    turnNumber: isNaturalNumber(turnNumber) ? turnNumber : undefined,
    body: textOf(message.body) ?? '',
    replyTo: isNaturalNumber(replyTo) ? replyTo : undefined,
    followUpActions: recordsOf(message.followUpActions).map(({ name, key, color }) => ({
      name: textOf(name) ?? '',
      key: textOf(key) ?? '',
      color: textOf(color) ?? '',
    })),
    createdUtc: timeOf(message.createdUtc),
  };
}

function codeOf(table: Readonly<Record<string, number>>, word: unknown): number | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}

function isNaturalNumber(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31;
}
