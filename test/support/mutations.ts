import type { App } from './app.ts';

/** The fields of an issue that are selected after a write. */
const issue = `id key title description teamId statusId priority parentIssueId projectId deliveryId estimateValue dueDate
  primaryAssigneeUserAccountId assigneeUserAccountIds labelIds roleAssignments { role userAccountId displayName }
  reporterUserAccountId commentCount subIssueCount linkCount createdUtc updatedUtc lastActivityUtc lastCommentUtc closedUtc
  isSubscribed revision`;
const comment =
  'id issueId parentCommentId parentAuthorDisplayName authorUserAccountId bodyText canManage isEdited createdUtc updatedUtc revision';
const message = `id threadId issueId agentUserAccountId applicationId applicationInstallationId authorUserAccountId authorType
  messageType turnNumber body replyToMessageId followUpActions { name key color } createdUtc`;
const thread = `id issueId agentUserAccountId applicationId applicationInstallationId status lastMessageAuthorType lastMessageType
  currentTurnNumber lastCompletedTurnNumber messageCount lastMessagePreview lastMessageUtc startedUtc`;

const selections = {
  issueCreate: `issue { ${issue} }`,
  issueUpdate: `issue { ${issue} }`,
  issueBatchUpdate: `issues { ${issue} }`,
  issueDelete: 'deletedIssueId',
  issueRestore: `issue { ${issue} }`,
  issueSubscribe: `issue { ${issue} }`,
  issueUnsubscribe: `issue { ${issue} }`,
  commentCreate: `comment { ${comment} } issue { ${issue} }`,
  commentUpdate: `comment { ${comment} } issue { ${issue} }`,
  commentDelete: `deletedCommentId issue { ${issue} }`,
  issueLinkCreate: `issueLink { id url title createdUtc createdByUserAccountId } created issue { ${issue} }`,
  issueLinkDelete: `deletedIssueLinkId issue { ${issue} }`,
  agentMessageCreate: `message { ${message} } thread { ${thread} } issue { ${issue} }`,
} as const;
type MutationName = keyof typeof selections;

/** An issue as a client reads it. */
export type IssueRead = Record<string, unknown> & { id: string; key: string; revision: number };
type Read = Record<string, unknown> & { id: string };
type LinkRead = { issueLink: Read; created: boolean; issue: IssueRead };
interface Payloads {
  issueCreate: { issue: IssueRead };
  issueUpdate: { issue: IssueRead };
  issueBatchUpdate: { issues: IssueRead[] };
  issueDelete: { deletedIssueId: string };
  issueRestore: { issue: IssueRead };
  issueSubscribe: { issue: IssueRead };
  issueUnsubscribe: { issue: IssueRead };
  commentCreate: { comment: Read; issue: IssueRead };
  commentUpdate: { comment: Read; issue: IssueRead };
  commentDelete: { deletedCommentId: string; issue: IssueRead };
  issueLinkCreate: LinkRead;
  issueLinkDelete: { deletedIssueLinkId: string; issue: IssueRead };
  agentMessageCreate: { message: Read; thread: Read; issue: IssueRead };
}

type Input = Record<string, unknown>;

/** The error of a refused mutation. */
export interface Refusal {
  code: string;
  message: string;
  errors: { field: string; message: string }[];
}

/** Sends mutations of issues over HTTP with one token. */
export interface Caller {
  /** Sends a mutation, and throws if it is refused. */
  mutate<Name extends MutationName>(name: Name, input: Input): Promise<Payloads[Name]>;
  /** Sends a mutation that must be refused, and throws if it succeeds. */
  refusalOf(name: MutationName, input: Input): Promise<Refusal>;
  /** Sends a mutation that must be invalid, and returns `field: message` of each violation in order. */
  violationsOf(name: MutationName, input: Input): Promise<string[]>;
  create(input: Input): Promise<IssueRead>;
  update(key: string, input: Input): Promise<IssueRead>;
  read(key: string): Promise<IssueRead | null>;
  feed(key: string): Promise<Record<string, unknown>[]>;
}

/** Creates a caller with a token. */
export function callerOf(app: Pick<App, 'graphql'>, token: string): Caller {
  const send = async (document: string, variables: Record<string, unknown>) => {
    const { body, status } = await app.graphql<Record<string, never>>(document, variables, { token });
    if (typeof body !== 'object') throw new Error(`${status}: ${String(body)}`);
    return body;
  };
  const run = (name: MutationName, input: Input) => {
    const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
    return send(`mutation ($input: ${type}!) { ${name}(input: $input) { ${selections[name]} } }`, { input });
  };
  const query = async (document: string, key: string) => {
    const { data, errors } = await send(document, { key });
    if (errors) throw new Error(JSON.stringify(errors));
    return (data as { issue?: unknown } | undefined)?.issue;
  };
  const caller: Caller = {
    mutate: async (name, input) => {
      const { data, errors } = await run(name, input);
      if (errors) throw new Error(JSON.stringify(errors));
      return (data as unknown as Payloads)[name];
    },
    refusalOf: async (name, input) => {
      const { errors } = await run(name, input);
      const [error] = errors ?? [];
      if (!error) throw new Error(`${name} was not refused`);
      const { code, errors: violations } = error.extensions as unknown as {
        code: string;
        errors?: Refusal['errors'];
      };
      return { code, message: error.message, errors: violations ?? [] };
    },
    violationsOf: async (name, input) => {
      const { code, errors } = await caller.refusalOf(name, input);
      if (code !== 'VALIDATION_FAILED') throw new Error(`refused with ${code}`);
      return errors.map(({ field, message }) => `${field}: ${message}`);
    },
    create: async (input) => (await caller.mutate('issueCreate', input)).issue,
    update: async (key, input) => (await caller.mutate('issueUpdate', { key, ...input })).issue,
    read: async (key) =>
      (await query(`query ($key: String!) { issue(key: $key) { ${issue} } }`, key)) as IssueRead | null,
    feed: async (key) => {
      const entries = 'eventType text sortOrder occurredUtc actorUserAccountId iconCss';
      const found = await query(
        `query ($key: String!) { issue(key: $key) { activity(first: 250) { nodes { ${entries} } } } }`,
        key,
      );
      return (found as { activity: { nodes: Record<string, unknown>[] } }).activity.nodes;
    },
  };
  return caller;
}
