import type { App } from '../support/app.ts';
import type { EventReader } from './event-stream.ts';
import { nextAnswer, subscribe } from './subscribing.ts';

const document = `subscription ($after: String, $filter: IssueFilter) {
  issues(after: $after, filter: $filter) {
    kind cursor issueId issue { key title } changes { eventType position }
  }
}`;

/** An event of a live list. */
interface ListEvent {
  kind: string;
  cursor: string;
  issueId: string;
  issue: { key: string; title: string } | null;
  changes: { eventType: string; position: string }[];
}

/** Opens a live list. */
export function followList(
  app: App,
  token: string,
  { filter, after }: { filter: object; after: string | undefined },
): Promise<EventReader> {
  return subscribe(app, document, { filter, after }, { token });
}

/** The next event of a live list. */
export async function nextListEvent(stream: EventReader): Promise<ListEvent> {
  const { answer } = await nextAnswer(stream);
  if (!answer.data?.issues) throw new Error(JSON.stringify(answer));
  return answer.data.issues as unknown as ListEvent;
}
