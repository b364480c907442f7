import type { RelatedRows, StageRow } from '../../db/reads/export-reads.ts';
import type { Row } from '../../db/tables/tables.ts';
import { codeTables } from '../../model/codes.ts';
import { wordOfCode } from '../directory/code-words.ts';
import type { ExportFiles } from './export-files.ts';

type Person = (userAccountId: string) => Record<string, unknown> | null;

/** The activity feeds, stages, attachments and agent threads of a page of issues. */
export class ExportedHistory {
  readonly #person: Person;
  readonly #files: ExportFiles | undefined;
  readonly #activity: ReadonlyMap<string, Row<'activity'>[]>;
  readonly #stages: ReadonlyMap<string, StageRow[]>;
  readonly #threads: ReadonlyMap<string, Row<'agentThread'>[]>;
  readonly #messages: ReadonlyMap<string, Row<'agentThreadMessage'>[]>;
  readonly #attachments: ReadonlyMap<string, Row<'attachment'>[]>;

  constructor(belongings: RelatedRows, person: Person, files: ExportFiles | undefined) {
    const byIssue = ({ issueId }: { issueId: string }) => issueId;
    this.#person = person;
    this.#files = files;
    this.#activity = Map.groupBy(belongings.activity, byIssue);
    this.#stages = Map.groupBy(belongings.stages, byIssue);
    this.#threads = Map.groupBy(belongings.threads, byIssue);
    this.#messages = Map.groupBy(belongings.messages, byIssue);
    this.#attachments = Map.groupBy(belongings.attachments, byIssue);
  }

  /** The fields in the line of an issue. They include attachments only if files are written. */
  async of(issueId: string): Promise<Record<string, unknown>> {
    const attachments = await this.#attachmentRecords(issueId);
    return {
      activity: (this.#activity.get(issueId) ?? []).map((entry) => ({
        eventType: entry.eventType,
        actor: this.#person(entry.actorUserAccountId),
        occurredUtc: entry.occurredUtc,
        text: entry.text,
      })),
      stages: (this.#stages.get(issueId) ?? []).map(stageRecord),
      ...(attachments && { attachments }),
      ...this.#thread(issueId),
    };
  }

  async #attachmentRecords(issueId: string): Promise<Record<string, unknown>[] | undefined> {
    if (!this.#files) return undefined;
    const records = [];
    for (const attachment of this.#attachments.get(issueId) ?? []) {
      const file = await this.#files.save(attachment);
      if (file === undefined) continue;
      const { fileName, contentType, uploadedByUserAccountId, createdUtc, uploadedUtc } = attachment;
      const uploadedBy = this.#person(uploadedByUserAccountId);
      records.push({ file, fileName, contentType, uploadedBy, createdUtc, uploadedUtc });
    }
    return records;
  }

  #thread(issueId: string): Record<string, unknown> {
    const thread = this.#threads.get(issueId)?.[0];
    if (!thread) return {};
    const messages = this.#messages.get(issueId) ?? [];
    const numbers = new Map(messages.map(({ id }, index) => [id, index + 1]));
    return {
      agentThread: {
        agent: this.#person(thread.agentUserAccountId),
        messages: messages.map((message) => ({
          authorType: wordOfCode(codeTables.authorType, message.authorType),
          author: this.#person(message.authorUserAccountId),
          messageType: wordOfCode(codeTables.messageType, message.messageType),
          turnNumber: message.turnNumber,
          body: message.body,
          replyTo: message.replyToMessageId === null ? null : (numbers.get(message.replyToMessageId) ?? null),
          followUpActions: message.followUpActions,
          createdUtc: message.createdUtc,
        })),
      },
    };
  }
}

/** A stage without its empty fields. */
function stageRecord({ sinceUtc, statusName, projectKey, deliveryNumber, estimateValue, deleted }: StageRow) {
  return {
    sinceUtc,
    status: statusName,
    ...(projectKey !== null && { project: projectKey }),
    ...(deliveryNumber !== null && { delivery: deliveryNumber }),
    ...(estimateValue !== null && { estimateValue }),
    ...(deleted && { deleted }),
  };
}
