import { limits } from '../../model/limits.ts';
import { bodyOf, required } from '../body.ts';
import {
  IssueLinkCreateDocument,
  IssueLinkDeleteDocument,
  IssueLinksDocument,
} from '../operations.generated.ts';
import { ifMatch, page, pathId } from '../params.ts';
import { createdOrExisting, list, noContent } from '../replies.ts';
import { route } from '../route.ts';
import { issueLink } from '../shapes/links.ts';
import { httpUrl, text } from '../values.ts';
import { issueKey } from './issue-key.ts';

/** GET /v1/issues/{issueKey}/links */
export const links = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/links',
  scope: 'issues:read',
  summary: 'Lists the links of an issue, oldest first.',
  parameters: { issueKey, ...page },
  operation: IssueLinksDocument,
  variables: (p) => ({ key: p.issueKey, first: p.page_size, after: p.cursor }),
  pick: 'issue.links',
  reply: list(issueLink),
});

/** POST /v1/issues/{issueKey}/links */
export const linkCreate = route({
  method: 'POST',
  path: '/v1/issues/{issueKey}/links',
  scope: 'issues:write',
  summary: 'Adds a link to an issue. The same URL is linked only once.',
  parameters: { issueKey },
  body: bodyOf({
    url: required(httpUrl('The URL of the link.', { maxLength: limits.url })),
    title: required(text('The title of the link.', { minLength: 1, maxLength: limits.title, trimmed: true })),
  }),
  operation: IssueLinkCreateDocument,
  variables: (p, fields) => ({ input: { issueKey: p.issueKey, ...fields } }),
  pick: ({ issueLinkCreate: { created, issueLink: resource } }) => ({ created, resource }),
  reply: createdOrExisting(issueLink, {
    path: '/v1/issues/{issueKey}/links/{linkId}',
    parameterValuePath: 'linkId',
  }),
});

/** DELETE /v1/issues/{issueKey}/links/{linkId} */
export const linkDelete = route({
  method: 'DELETE',
  path: '/v1/issues/{issueKey}/links/{linkId}',
  scope: 'issues:write',
  summary: 'Removes a link from an issue.',
  parameters: { issueKey, linkId: pathId('link', 'link', 'The id of the link.'), ...ifMatch },
  operation: IssueLinkDeleteDocument,
  variables: (p) => ({
    input: { issueKey: p.issueKey, id: p.linkId, expectedRevision: p['If-Match'] },
  }),
  pick: 'issueLinkDelete',
  reply: noContent(),
});
