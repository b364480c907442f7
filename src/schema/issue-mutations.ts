import type { IssueRow } from '../db/issues.ts';
import { deleteIssue, restoreIssue } from '../resolvers/issues/issue-deletion.ts';
import { subscribeToIssue, unsubscribeFromIssue } from '../resolvers/issues/issue-subscriptions.ts';
import { updateIssue, updateIssues } from '../resolvers/issues/issue-update.ts';
import { createIssue } from '../resolvers/issues/issues.ts';
import { mutation } from './builder/mutation.ts';
import { builder, type Types } from './builder/builder.ts';
import { storedInputs } from './issue-fields.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const RoleAssignmentInput = builder.inputType('RoleAssignmentInput', {
  description: 'A part that somebody is to have in an issue.',
  fields: (t) => ({
    role: t.string({ required: true, description: 'What the part is called, 1 to 50 characters.' }),
    userAccountId: t.id({
      required: true,
      extensions: naming('id', 'user'),
      description: 'The account that is to have it.',
    }),
  }),
});

/** The fields that creating and updating have in common. */
function sharedFields(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return {
    ...storedInputs(t),
    primaryAssigneeUserAccountId: t.id({
      extensions: naming('id', 'user'),
      description:
        'The account that answers for it. It takes the place of the former one among the assignees; null takes that one out.',
    }),
    assigneeUserAccountIds: t.idList({
      extensions: naming('id', 'user'),
      description:
        'The accounts that work on it, at most 50. Alone, it keeps the primary assignee who is in it, else its first becomes that.',
    }),
    labelIds: t.idList({
      extensions: naming('id', 'label'),
      description: 'All its labels, at most 50, of the workspace or of its team; no groups.',
    }),
    parentIssueId: t.id({
      extensions: naming('id', 'issue'),
      description: 'The issue that it is a part of.',
    }),
    roleAssignments: t.field({
      type: [RoleAssignmentInput],
      description: 'All the parts that people have in it, at most 50.',
    }),
  };
}

const IssueCreateInput = builder.inputType('IssueCreateInput', {
  description: 'An issue to be made. What is left out or null stays empty.',
  fields: (t) => ({
    teamId: t.id({
      extensions: naming('id', 'team'),
      required: true,
      description: 'The team that owns it from then on.',
    }),
    title: t.string({ required: true, description: 'What it is about, 1 to 255 characters after trimming.' }),
    statusId: t.id({
      extensions: naming('id', 'status'),
      description: 'The status of the team that it begins in; the initial one when left out.',
    }),
    ...sharedFields(t),
  }),
});

function changedFields(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return {
    title: t.string({ description: 'What it is about, 1 to 255 characters after trimming; cannot be null.' }),
    statusId: t.id({
      extensions: naming('id', 'status'),
      description: 'The status of its team that it comes to; cannot be null.',
    }),
    ...sharedFields(t),
  };
}

const IssueUpdateInput = builder.inputType('IssueUpdateInput', {
  description: 'A change to an issue. A field that is left out stays as it is, null empties it.',
  fields: (t) => ({
    key: t.string({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The key of the issue, in any case; its id is taken too.',
    }),
    expectedRevision: expectedRevision(t),
    ...changedFields(t),
  }),
});

const IssueBatchUpdateInput = builder.inputType('IssueBatchUpdateInput', {
  description: 'One change to several issues. A field that is left out stays as it is, null empties it.',
  fields: (t) => ({
    keys: t.stringList({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The keys of the issues, 1 to 50; ids are taken too.',
    }),
    ...changedFields(t),
  }),
});

/** An input that names an issue and says no more. */
function namingInput(
  name: string,
  description: string,
  key = 'The key of the issue, in any case; its id is taken too.',
) {
  return builder.inputType(name, {
    description,
    fields: (t) => ({
      key: t.string({ required: true, extensions: naming('key', 'issue'), description: key }),
    }),
  });
}

const IssueDeleteInput = builder.inputType('IssueDeleteInput', {
  description: 'The issue to be deleted.',
  fields: (t) => ({
    key: t.string({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The key of the issue, in any case; its id is taken too.',
    }),
    expectedRevision: expectedRevision(t),
  }),
});
const IssueRestoreInput = namingInput(
  'IssueRestoreInput',
  'The deleted issue to be brought back.',
  'The key that the issue had, in any case; its id is taken too.',
);
const IssueSubscribeInput = namingInput('IssueSubscribeInput', 'The issue to follow.');
const IssueUnsubscribeInput = namingInput('IssueUnsubscribeInput', 'The issue to follow no more.');

function issuePayload(name: string, description: string) {
  return builder.objectRef<{ issue: IssueRow }>(name).implement({
    description,
    fields: (t) => ({
      issue: t.expose('issue', { type: Issue.ref, description: 'The issue as it is now.' }),
    }),
  });
}

const IssueCreatePayload = issuePayload('IssueCreatePayload', 'The issue that was made.');
const IssueUpdatePayload = issuePayload('IssueUpdatePayload', 'The issue that was changed.');
const IssueRestorePayload = issuePayload('IssueRestorePayload', 'The issue that is back.');
const IssueSubscribePayload = issuePayload('IssueSubscribePayload', 'The issue that the viewer follows.');
const IssueUnsubscribePayload = issuePayload(
  'IssueUnsubscribePayload',
  'The issue that the viewer follows no more.',
);

const IssueBatchUpdatePayload = builder
  .objectRef<{ issues: IssueRow[] }>('IssueBatchUpdatePayload')
  .implement({
    description: 'The issues that were changed.',
    fields: (t) => ({
      issues: t.expose('issues', {
        type: [Issue.ref],
        description: 'The issues as they are now, in the order of the keys, each once.',
      }),
    }),
  });

const IssueDeletePayload = builder.objectRef<IssueRow>('IssueDeletePayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({
    deletedIssueId: t.idOf('issue', 'id', {
      description: 'The id of the issue, which names nothing until it is restored.',
    }),
  }),
});

mutation(
  'issueCreate',
  IssueCreateInput,
  IssueCreatePayload,
  async (ctx, input) => ({ issue: await createIssue(ctx, input) }),
  { description: 'Makes an issue with the next number of its team. The viewer reports it and follows it.' },
);

mutation(
  'issueUpdate',
  IssueUpdateInput,
  IssueUpdatePayload,
  async (ctx, input) => ({ issue: await updateIssue(ctx, input) }),
  { description: 'Changes the fields of an issue that are given.' },
);

mutation(
  'issueBatchUpdate',
  IssueBatchUpdateInput,
  IssueBatchUpdatePayload,
  async (ctx, input) => ({ issues: await updateIssues(ctx, input) }),
  {
    description:
      'Makes the same change to several issues: to all of them, or to none when one cannot take it. It is meant for whatever revisions they have.',
    extensions: { rows: ({ input }: { input: { keys: string[] } }) => input.keys.length },
  },
);

mutation('issueDelete', IssueDeleteInput, IssueDeletePayload, deleteIssue, {
  description: 'Deletes an issue. Its sub-issues stay, without a parent; for 30 days it can be restored.',
});

mutation(
  'issueRestore',
  IssueRestoreInput,
  IssueRestorePayload,
  async (ctx, input) => ({ issue: await restoreIssue(ctx, input) }),
  { description: 'Brings back an issue that was deleted in the last 30 days, with its sub-issues under it.' },
);

mutation(
  'issueSubscribe',
  IssueSubscribeInput,
  IssueSubscribePayload,
  async (ctx, input) => ({ issue: await subscribeToIssue(ctx, input) }),
  { description: 'Makes the viewer follow an issue.' },
);

mutation(
  'issueUnsubscribe',
  IssueUnsubscribeInput,
  IssueUnsubscribePayload,
  async (ctx, input) => ({ issue: await unsubscribeFromIssue(ctx, input) }),
  { description: 'Makes the viewer follow an issue no more.' },
);
