import { anyOf } from '../comparators.ts';
import { type IssueOrder, SubIssuesDocument } from '../operations.generated.ts';
import { many, page, withDefault } from '../params.ts';
import { list } from '../replies.ts';
import { route } from '../route.ts';
import { subIssue } from '../shapes/sub-issues.ts';
import { boolean, id } from '../values.ts';
import { issueKey } from './issue-key.ts';

// The default order of the connection is newest first.
const oldestFirst: IssueOrder = { field: 'CREATED', direction: 'ASC' };

/** GET /v1/issues/{issueKey}/subissues */
export const subIssues = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/subissues',
  scope: 'issues:read',
  summary: 'Lists the sub-issues of an issue, oldest first.',
  parameters: {
    issueKey,
    ...page,
    status_id: many(id('status', 'Sub-issues in this status.')),
    assignee_user_account_id: many(
      id('user', 'Sub-issues with this account among the assignees, including the primary one.'),
    ),
    include_completed: withDefault(
      'true',
      boolean('Whether sub-issues in a terminal status are listed too.'),
    ),
  },
  operation: SubIssuesDocument,
  variables: (p) => ({
    key: p.issueKey,
    first: p.page_size,
    after: p.cursor,
    filter: {
      statusId: anyOf(p.status_id),
      assignees: p.assignee_user_account_id && {
        some: { userAccountId: anyOf(p.assignee_user_account_id) },
      },
      status: p.include_completed ? undefined : { isTerminal: { eq: false } },
    },
    orderBy: oldestFirst,
  }),
  pick: 'issue.subIssues',
  reply: list(subIssue),
});
