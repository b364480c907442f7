import type { IssueRow } from '../db/issues.ts';
import { createLink, type LinkWritten, removeLink } from '../resolvers/links.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { Issue } from './issues.ts';
import { IssueLink } from './links.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const IssueLinkCreateInput = builder.inputType('IssueLinkCreateInput', {
  description: 'A link to be added to an issue.',
  fields: (t) => ({
    issueKey: t.string({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The key of the issue, in any case; its id is taken too.',
    }),
    url: t.field({
      type: 'URL',
      required: true,
      description: 'Where it leads: an http or https URL of up to 2,048 characters.',
    }),
    title: t.string({
      required: true,
      description: 'What it is to be called, 1 to 255 characters after trimming.',
    }),
  }),
});

const IssueLinkDeleteInput = builder.inputType('IssueLinkDeleteInput', {
  description: 'The link to be taken from its issue.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'link'),
      description: 'The id of the link (`link_…`).',
    }),
    issueKey: t.string({
      extensions: naming('key', 'issue'),
      description: 'The issue that it must be on, by its key or id; any when left out.',
    }),
    expectedRevision: expectedRevision(t),
  }),
});

const IssueLinkCreatePayload = builder.objectRef<LinkWritten>('IssueLinkCreatePayload').implement({
  description: 'The link, made now or there already.',
  fields: (t) => ({
    issueLink: t.expose('issueLink', { type: IssueLink.ref, description: 'The link.' }),
    created: t.exposeBoolean('created', {
      description:
        'Was it made now; false when the issue had a link to the same place already, which is the answer then.',
    }),
    issue: t.expose('issue', { type: Issue.ref, description: 'Its issue as it is now.' }),
  }),
});

const IssueLinkDeletePayload = builder
  .objectRef<{ id: string; issue: IssueRow }>('IssueLinkDeletePayload')
  .implement({
    description: 'What was deleted.',
    fields: (t) => ({
      deletedIssueLinkId: t.idOf('link', 'id', {
        description: 'The id of the link, which names nothing any more.',
      }),
      issue: t.expose('issue', { type: Issue.ref, description: 'Its issue as it is now.' }),
    }),
  });

mutation('issueLinkCreate', IssueLinkCreateInput, IssueLinkCreatePayload, createLink, {
  description: 'Links an issue to something elsewhere, at most once to the same place.',
});

mutation('issueLinkDelete', IssueLinkDeleteInput, IssueLinkDeletePayload, removeLink, {
  description: 'Takes a link from its issue.',
});
