import type { ExampleRequest } from '../../src/rest-compat/openapi/example.ts';

/** Reads the workspace of the examples, for requests that need ids. */
export interface Lookup {
  /** The first object of a list. */
  first: (list: string) => Promise<Readonly<Record<string, string>>>;
  /** The object at a path. */
  one: (path: string) => Promise<Readonly<Record<string, string>>>;
}

type Request = ExampleRequest | ((lookup: Lookup) => Promise<ExampleRequest>);

const issueKey = 'WEB-63';
const page_size = '2';

const commentOf =
  (issueKey: string, body?: unknown): Request =>
  async ({ first }) => {
    const { id: commentId = '' } = await first(`/v1/issues/${issueKey}/comments`);
    return { parameters: { issueKey, commentId }, ...(body !== undefined && { body }) };
  };

const attachmentOf: Request = async ({ first }) => {
  const { id: attachmentId = '' } = await first('/v1/issues/WEB-54/attachments');
  return { parameters: { issueKey: 'WEB-54', attachmentId } };
};

const webhookOf =
  (body?: unknown): Request =>
  async ({ first }) => {
    const { id: webhookId = '' } = await first('/v1/webhooks');
    return { parameters: { webhookId }, ...(body !== undefined && { body }) };
  };

const link = { url: 'https://wiki.example.com/prices', title: 'How prices are made' };

/**
 * One request for each route, in the order in which they are sent: first the reads, then the writes, which
 * change issues that no other example shows.
 */
export const exampleRequests: Readonly<Record<string, Request>> = {
  'GET /v1/issues/{issueKey}': { parameters: { issueKey } },
  'GET /v1/issues': {
    parameters: {
      team_code: 'WEB',
      status_category: ['open', 'active'],
      sort: 'priority',
      direction: 'asc',
      page_size,
    },
  },
  'GET /v1/issues/{issueKey}/activity': {
    parameters: { issueKey, event_type: 'issue.updated.v1', page_size },
  },
  'GET /v1/issues/{issueKey}/attachments': { parameters: { issueKey: 'WEB-54', page_size } },
  'GET /v1/issues/{issueKey}/attachments/{attachmentId}': attachmentOf,
  'GET /v1/issues/{issueKey}/attachments/{attachmentId}/content': attachmentOf,
  'GET /v1/issues/{issueKey}/attachments/{attachmentId}/preview': attachmentOf,
  'GET /v1/issues/{issueKey}/links': { parameters: { issueKey, page_size } },
  'GET /v1/issues/{issueKey}/subissues': { parameters: { issueKey: 'WEB-40', page_size } },
  'GET /v1/issues/{issueKey}/comments': {
    parameters: { issueKey, sort: 'created', direction: 'desc', page_size },
  },
  'GET /v1/issues/{issueKey}/comments/{commentId}': commentOf(issueKey),
  'GET /v1/issues/{issueKey}/agent-thread': { parameters: { issueKey: 'WEB-54' } },
  'GET /v1/issues/{issueKey}/agent-thread/messages': { parameters: { issueKey: 'WEB-54' } },
  'GET /v1/teams': {
    parameters: { state: ['active', 'inactive'], sort: 'member_count', direction: 'desc', page_size },
  },
  'GET /v1/teams/{teamCode}': { parameters: { teamCode: 'WEB' } },
  'GET /v1/teams/{teamCode}/repositories': {
    parameters: { teamCode: 'WEB', provider: ['github'], page_size },
  },
  'GET /v1/teams/{teamCode}/repositories/default': { parameters: { teamCode: 'WEB' } },
  'GET /v1/projects': {
    parameters: { team_code: 'MOB', priority: ['urgent', 'high'], sort: 'target', page_size },
  },
  'GET /v1/projects/{projectKey}': { parameters: { projectKey: 'OFFLINE' } },
  'GET /v1/projects/{projectKey}/links': { parameters: { projectKey: 'OFFLINE', page_size } },
  'GET /v1/members': { parameters: { role: ['owner', 'admin'], status: ['active'], page_size } },
  'GET /v1/members/{memberId}': async ({ first }) => {
    const { id: memberId = '' } = await first('/v1/members');
    return { parameters: { memberId } };
  },
  'GET /v1/stats': { parameters: { group_by: ['priority'], status_category: ['active'] } },
  'GET /v1/stats/trend': {
    parameters: { every: 'month', from: '2025-12-01', to: '2026-01-31', time_zone: 'Europe/Copenhagen' },
  },
  'GET /v1/stats/flow': { parameters: { every: 'week', from: '2026-01-05', to: '2026-01-18' } },
  'GET /v1/meta/codes': { parameters: {} },
  'GET /v1/meta/errors/{code}': { parameters: { code: 'validation_failed' } },
  'GET /health': { parameters: {} },
  'GET /healthz': { parameters: {} },
  'GET /readyz': { parameters: {} },
  'POST /v1/issues': async ({ one, first }) => {
    const { id: teamId } = await one('/v1/teams/WEB');
    const { userAccountId } = await first('/v1/members?query=Mara');
    return {
      parameters: {},
      body: {
        teamId,
        title: 'Show the price per deck',
        description: 'Passengers ask for it on every call.',
        priority: 2,
        estimateValue: 3,
        primaryAssigneeUserAccountId: userAccountId,
      },
    };
  },
  'PATCH /v1/issues/{issueKey}': {
    parameters: { issueKey: 'CRW-44' },
    body: { title: 'The relief planner leaves a trainee alone', dueDate: '2026-03-31', clearEstimate: true },
  },
  'POST /v1/issues/{issueKey}/comments': {
    parameters: { issueKey: 'DAT-43' },
    body: { body: 'It stopped again last night.' },
  },
  'PATCH /v1/issues/{issueKey}/comments/{commentId}': commentOf('MOB-53', { body: 'Both of us were right.' }),
  'DELETE /v1/issues/{issueKey}/comments/{commentId}': commentOf('WEB-51'),
  'POST /v1/issues/{issueKey}/links': { parameters: { issueKey: 'DAT-39' }, body: link },
  'DELETE /v1/issues/{issueKey}/links/{linkId}': async ({ first }) => {
    const { linkId = '' } = await first('/v1/issues/DOC-23/links');
    return { parameters: { issueKey: 'DOC-23', linkId } };
  },
  'POST /v1/issues/{issueKey}/attachments': {
    parameters: { issueKey: 'SEC-32' },
    body: { fileName: 'attempts.png', contentType: 'image/png', sizeBytes: 48_213 },
  },
  'POST /v1/issues/{issueKey}/agent-thread/messages': {
    parameters: { issueKey: 'GTE-33' },
    body: { body: 'Please sort by the first contact as well.' },
  },
  'DELETE /v1/issues/{issueKey}': { parameters: { issueKey: 'SUP-37' } },
  'GET /v1/webhooks': { parameters: { state: 'disabled', page_size } },
  'GET /v1/webhooks/{webhookId}': webhookOf(),
  'GET /v1/webhooks/{webhookId}/deliveries': webhookOf(),
  'POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver': async ({ first }) => {
    const { id: webhookId = '' } = await first('/v1/webhooks');
    const { id: deliveryId = '' } = await first(`/v1/webhooks/${webhookId}/deliveries`);
    return { parameters: { webhookId, deliveryId } };
  },
  'PATCH /v1/webhooks/{webhookId}': webhookOf({
    url: 'http://127.0.0.1:9/hook',
    description: 'Nobody listens.',
  }),
  'POST /v1/webhooks/{webhookId}/rotate-secret': webhookOf(),
  'POST /v1/webhooks/{webhookId}/ping': webhookOf(),
  'DELETE /v1/webhooks/{webhookId}': webhookOf(),
  'POST /v1/webhooks': {
    parameters: {},
    body: {
      url: 'https://hooks.example.com/workgraph',
      description: 'New issues go to the help desk.',
      eventTypes: ['issue.created.v1'],
    },
  },
  'GET /v1/changes': { parameters: { event_type: 'issue.deleted.v1', wait: '25', page_size: '1' } },
};

/** The routes whose request is sent twice, because the second answer differs. */
export const sentTwice: ReadonlySet<string> = new Set(['POST /v1/issues/{issueKey}/links']);
