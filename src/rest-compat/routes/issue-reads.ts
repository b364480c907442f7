import { issueFilter, issueFilters } from '../issue-filters.ts';
import { IssueDocument, type IssueOrderField, IssuesDocument } from '../operations.generated.ts';
import { directionOf, page, sortBy } from '../params.ts';
import { item, list } from '../replies.ts';
import { route } from '../route.ts';
import { issue } from '../shapes/issues.ts';
import { teamNames, teamVariables, unknownTeamViolations } from '../team-filters.ts';
import { issueKey } from './issue-key.ts';

/** GET /v1/issues, which the specification leaves open: the filters and orders of the graph. */
export const issues = route({
  method: 'GET',
  path: '/v1/issues',
  scope: 'issues:read',
  summary: 'Lists the issues of the workspace, newest first by default.',
  parameters: {
    ...issueFilters,
    ...page,
    sort: sortBy<IssueOrderField>('created', {
      created: 'CREATED',
      updated: 'UPDATED',
      number: 'NUMBER',
      priority: 'PRIORITY',
      due_date: 'DUE_DATE',
      title: 'TITLE',
      status: 'STATUS',
      last_activity: 'LAST_ACTIVITY',
    }),
    direction: directionOf('desc'),
  },
  operation: IssuesDocument,
  variables: (p) => ({
    first: p.page_size,
    after: p.cursor,
    filter: issueFilter(p),
    orderBy: { field: p.sort, direction: p.direction },
    ...teamVariables(p),
  }),
  check: unknownTeamViolations,
  pick: 'issues',
  reply: list(issue, { isBounded: true }),
  restNames: teamNames,
});

/** GET /v1/issues/{issueKey}, which the specification leaves open. */
export const issueByKey = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}',
  scope: 'issues:read',
  summary: 'Reads an issue.',
  parameters: { issueKey },
  operation: IssueDocument,
  variables: (p) => ({ key: p.issueKey }),
  pick: 'issue',
  reply: item(issue),
});
