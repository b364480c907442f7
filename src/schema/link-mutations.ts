import { limits } from '../model/limits.ts';
import type { IssueRow } from '../db/issues.ts';
import { createLink, type WrittenLink, deleteLink } from '../resolvers/links.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { expectedIssueKey, issueKey } from './issue-key.ts';
import { Issue } from './issues.ts';
import { IssueLink } from './links.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const IssueLinkCreateInput = builder.inputType('IssueLinkCreateInput', {
  description: 'The link to add to an issue.',
  fields: (t) => ({
    issueKey: issueKey(t),
    url: t.field({
      type: 'URL',
      required: true,
      description: `The http or https URL that the link points to, up to ${limits.url.toLocaleString('en')} characters.`,
    }),
    title: t.string({
      required: true,
      description: 'The title of the link, 1 to 255 characters after trimming.',
    }),
  }),
});

const IssueLinkDeleteInput = builder.inputType('IssueLinkDeleteInput', {
  description: 'The link to delete.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'link'),
      description: 'The id of the link (`link_…`).',
    }),
    issueKey: expectedIssueKey(t),
    expectedRevision: expectedRevision(t),
  }),
});

const IssueLinkCreatePayload = builder.objectRef<WrittenLink>('IssueLinkCreatePayload').implement({
  description: 'The new link, or the link that the issue already had.',
  scope: 'inherited',
  fields: (t) => ({
    issueLink: t.expose('issueLink', { type: IssueLink.ref, description: 'The link.' }),
    created: t.exposeBoolean('created', {
      description:
        'Whether the link is new. If the issue already had a link to the same URL, this is false and `issueLink` is that link.',
    }),
    issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
  }),
});

const IssueLinkDeletePayload = builder
  .objectRef<{ id: string; issue: IssueRow }>('IssueLinkDeletePayload')
  .implement({
    description: 'The result of the deletion.',
    scope: 'inherited',
    fields: (t) => ({
      deletedIssueLinkId: t.idOf('link', 'id', {
        description: 'The id that the link had.',
      }),
      issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
    }),
  });

mutation('issueLinkCreate', IssueLinkCreateInput, IssueLinkCreatePayload, createLink, {
  description: 'Adds a link to an issue. An issue has at most one link to the same URL.',
  scope: 'issues:write',
  events: ['issue-link.created.v1'],
});

mutation('issueLinkDelete', IssueLinkDeleteInput, IssueLinkDeletePayload, deleteLink, {
  description: 'Deletes a link.',
  scope: 'issues:write',
  events: ['issue-link.deleted.v1'],
});
