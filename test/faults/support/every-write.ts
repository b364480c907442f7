import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/engine/engine.ts';
import type { Client } from './client.ts';
import type { World } from './world.ts';

/** A mutation, ready to be sent. */
export interface Write {
  readonly name: string;
  /** The title of its issue, and the name of what it creates. */
  readonly mark: string;
  readonly takesKey: boolean;
  readonly body: { readonly query: string; readonly variables: object };
}

/** The issue of a write and the object that it changes, both created for it alone. */
interface Subject {
  readonly mark: string;
  readonly key: string;
  readonly id: string;
}

type Mutate = (
  name: string,
  input: object,
  selection: string,
) => Promise<Record<string, { id: string; key: string }>>;

interface Kind {
  readonly input: (subject: Subject) => object;
  /** Creates the object that the write changes, if that is not the issue, and returns its id. */
  readonly prepare?: (mutate: Mutate, subject: Omit<Subject, 'id'>) => Promise<string>;
  readonly takesNoKey?: true;
}

/** The mutations, each on objects of its own. */
const kinds: Readonly<Record<string, Kind>> = {
  issueCreate: { input: ({ mark, id }) => ({ teamId: id, title: `${mark} new` }) },
  issueUpdate: { input: ({ key }) => ({ key, description: 'Changed.' }) },
  issueBatchUpdate: { input: ({ key }) => ({ keys: [key], priority: 'HIGH' }) },
  issueDelete: { input: ({ key }) => ({ key }) },
  issueRestore: {
    prepare: async (mutate, { key }) => {
      await mutate('issueDelete', { key }, '__typename');
      return key;
    },
    input: ({ key }) => ({ key }),
  },
  issueSubscribe: {
    prepare: async (mutate, { key }) => {
      await mutate('issueUnsubscribe', { key }, '__typename');
      return key;
    },
    input: ({ key }) => ({ key }),
  },
  issueUnsubscribe: { input: ({ key }) => ({ key }) },
  commentCreate: { input: ({ key }) => ({ issueKey: key, body: 'Said.' }) },
  commentUpdate: { prepare: newComment, input: ({ id }) => ({ id, body: 'Better.' }) },
  commentDelete: { prepare: newComment, input: ({ id }) => ({ id }) },
  issueLinkCreate: { input: ({ key }) => ({ issueKey: key, url: 'https://example.com/b', title: 'B' }) },
  issueLinkDelete: {
    prepare: async (mutate, { key }) => {
      const input = { issueKey: key, url: 'https://example.com/a', title: 'A' };
      return (await mutate('issueLinkCreate', input, 'issueLink { id }')).issueLink?.id ?? '';
    },
    input: ({ id }) => ({ id }),
  },
  agentMessageCreate: { input: ({ key }) => ({ issueKey: key, body: 'Do it.' }) },
  attachmentCreate: { input: ({ key }) => ({ issueKey: key, ...file }) },
  attachmentDelete: {
    prepare: async (mutate, { key }) =>
      (await mutate('attachmentCreate', { issueKey: key, ...file }, 'attachment { id }')).attachment?.id ??
      '',
    input: ({ id }) => ({ id }),
  },
  accessTokenCreate: { input: ({ mark }) => ({ name: mark, scopes: ['issues:read'] }), takesNoKey: true },
  accessTokenRevoke: {
    prepare: async (mutate, { mark }) => {
      const input = { name: mark, scopes: ['issues:read'] };
      return (await mutate('accessTokenCreate', input, 'accessToken { id }')).accessToken?.id ?? '';
    },
    input: ({ id }) => ({ id }),
  },
};
const file = { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 1 };

async function newComment(mutate: Mutate, { key }: Omit<Subject, 'id'>): Promise<string> {
  return (
    (await mutate('commentCreate', { issueKey: key, body: 'Said.' }, 'comment { id }')).comment?.id ?? ''
  );
}

export const writeNames: readonly string[] = Object.keys(kinds);

/** Prepares writes, each on a new issue. */
export class EveryWrite {
  readonly #client: Client;
  readonly #world: World;

  constructor(client: Client, world: World) {
    this.#client = client;
    this.#world = world;
  }

  async prepare(name: string): Promise<Write> {
    const kind = kinds[name];
    if (!kind) throw new Error(`There is no write ${name}.`);
    const mark = `${name}-${randomUUID()}`;
    const { teamId } = this.#world;
    const mutate: Mutate = (name, input, selection) => this.#mutate(name, input, selection);
    const { issue } = await mutate('issueCreate', { teamId, title: mark }, 'issue { key }');
    const subject = { mark, key: issue?.key ?? '' };
    const id = kind.prepare ? await kind.prepare(mutate, subject) : teamId;
    const body = operation(name, kind.input({ ...subject, id }), '__typename');
    return { name, mark, takesKey: !kind.takesNoKey, body };
  }

  async #mutate(name: string, input: object, selection: string) {
    const body = operation(name, input, selection);
    const answer = await this.#client.send({ method: 'POST', path: '/graphql', body });
    const { data } = JSON.parse(answer.body) as { data?: Record<string, never> | null };
    if (!data?.[name]) throw new Error(`${name} was answered ${answer.status}: ${answer.body}`);
    return data[name] as Awaited<ReturnType<Mutate>>;
  }
}

function operation(name: string, input: object, selection: string) {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  return {
    query: `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`,
    variables: { input },
  };
}

/** The rows of each write as text, by its mark: equal for all writes of a kind that were applied exactly once and completely. */
export async function footprints({ unscoped }: Database): Promise<Map<string, string>> {
  const { rows } = await sql.raw<{ mark: string; footprint: string }>(footprintStatement).execute(unscoped);
  return new Map(rows.map(({ mark, footprint }) => [mark, footprint]));
}

const rowsText = (what: string, from: string) =>
  `(select string_agg(each, ' ' order by each) from (select ${what} as each from ${from}
    where (x.workspace_id, x.issue_id) = (i.workspace_id, i.id)) of_issue)`;
/** Deleted attachments are left out, because the janitor may remove them at any time. */
const attachmentsNotDeleted = '(select * from attachment where deleted_utc is null) x';
const footprintStatement = `
  select split_part(i.title, ' ', 1) as mark, string_agg(concat_ws(' | ',
    i.title = split_part(i.title, ' ', 1), i.description, i.priority, i.deleted_utc is not null, i.revision,
    i.activity_count, i.comment_count, i.link_count,
    ${rowsText("x.event_type || ':' || x.sort_order", 'activity x')},
    ${rowsText('x.body || (x.deleted_utc is not null) || x.revision', 'comment x')},
    ${rowsText('x.url || (x.deleted_utc is not null) || x.revision', 'issue_link x')},
    ${rowsText('x.file_name || x.revision', attachmentsNotDeleted)},
    ${rowsText('x.body', 'agent_thread_message x')},
    ${rowsText("'follows'", 'issue_subscription x')},
    (select count(*) || ' tokens, revoked ' || count(t.revoked_utc) from access_token t
      where t.workspace_id = i.workspace_id and t.name = i.title)
  ), ' ; ' order by i.title) as footprint
  from issue i group by 1`;
