import { anyOf, equals } from '../comparators.ts';
import {
  ProjectDocument,
  type ProjectFilter,
  ProjectLinksDocument,
  type ProjectOrderField,
  ProjectsDocument,
} from '../operations.generated.ts';
import { direction, key, many, page, sortBy } from '../params.ts';
import { priorityNameOrCode } from '../priorities.ts';
import { item, list } from '../replies.ts';
import { route } from '../route.ts';
import { projectLink } from '../shapes/links.ts';
import { project, projectDetail } from '../shapes/projects.ts';
import { teamFilters, teamNames, teamVariables, unknownTeamViolations } from '../team-filters.ts';
import { boolean, id } from '../values.ts';

const projectKey = key('project', 'The key of the project, in upper or lower case.');

/** GET /v1/projects */
export const projects = route({
  method: 'GET',
  path: '/v1/projects',
  scope: 'projects:read',
  summary: 'Lists the projects of the workspace.',
  parameters: {
    ...page,
    direction,
    include_no_lead: boolean(
      'Together with leads: whether projects without a lead are listed too. Alone, `false` excludes them.',
    ),
    label_id: many(id('label', 'Projects with this label.')),
    lead_user_account_id: many(id('user', 'Projects that this account leads.')),
    priority: many(priorityNameOrCode('Projects with this priority, by name or number.')),
    sort: sortBy<ProjectOrderField>('name', {
      name: 'NAME',
      priority: 'PRIORITY',
      lead: 'LEAD',
      target: 'TARGET',
      target_date: 'TARGET',
      status: 'STATUS',
    }),
    status_id: many(id('pstatus', 'Projects in this status.')),
    ...teamFilters('Projects'),
  },
  operation: ProjectsDocument,
  variables: (p) => ({
    first: p.page_size,
    after: p.cursor,
    filter: {
      labels: p.label_id && { some: { id: anyOf(p.label_id) } },
      priority: anyOf(p.priority),
      statusId: anyOf(p.status_id),
      team: p.team_code === undefined ? undefined : { code: equals(p.team_code) },
      teamId: anyOf(p.team_id),
      ...leadFilter(p.lead_user_account_id, p.include_no_lead),
    },
    orderBy: { field: p.sort, direction: p.direction },
    ...teamVariables(p),
  }),
  check: unknownTeamViolations,
  pick: 'projects',
  reply: list(project),
  restNames: teamNames,
});

/** GET /v1/projects/{projectKey} */
export const projectByKey = route({
  method: 'GET',
  path: '/v1/projects/{projectKey}',
  scope: 'projects:read',
  summary: 'Reads a project.',
  parameters: { projectKey },
  operation: ProjectDocument,
  variables: (p) => ({ key: p.projectKey }),
  pick: 'project',
  reply: item(projectDetail, 'The project.'),
});

/** GET /v1/projects/{projectKey}/links */
export const projectLinks = route({
  method: 'GET',
  path: '/v1/projects/{projectKey}/links',
  scope: 'projects:read',
  summary: 'Lists the links of a project, oldest first.',
  parameters: { projectKey, ...page },
  operation: ProjectLinksDocument,
  variables: (p) => ({ key: p.projectKey, first: p.page_size, after: p.cursor }),
  pick: 'project.links',
  reply: list(projectLink),
});

/** The filter by lead: these members, these or no lead, or any (docs/contract.md, "Lists"). */
function leadFilter(leads: string[] | undefined, includeNoLead: boolean | undefined): ProjectFilter {
  if (leads && includeNoLead)
    return { or: [{ leadUserAccountId: { in: leads } }, { leadUserAccountId: { isNull: true } }] };
  if (leads) return { leadUserAccountId: { in: leads } };
  return includeNoLead === false ? { leadUserAccountId: { isNull: false } } : {};
}
