import { limits } from '../model/limits.ts';
import type { IssueRow } from '../db/issues.ts';
import { deleteIssue, restoreIssue } from '../resolvers/issues/issue-deletion.ts';
import { subscribeToIssue, unsubscribeFromIssue } from '../resolvers/issues/issue-subscriptions.ts';
import { updateIssue, updateIssues } from '../resolvers/issues/issue-update.ts';
import { createIssue } from '../resolvers/issues/issues.ts';
import { mutation } from './builder/mutation.ts';
import { builder, type Types } from './builder/builder.ts';
import { storedInputs } from './issue-fields.ts';
import { issueKey } from './issue-key.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const RoleAssignmentInput = builder.inputType('RoleAssignmentInput', {
  description: 'A role in an issue, and the account that gets it.',
  fields: (t) => ({
    role: t.string({ required: true, description: 'The name of the role, 1 to 50 characters.' }),
    userAccountId: t.id({
      required: true,
      extensions: naming('id', 'user'),
      description: 'The account that gets the role.',
    }),
  }),
});

/** The fields that creating and updating an issue have in common. */
function sharedFields(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return {
    ...storedInputs(t),
    primaryAssigneeUserAccountId: t.id({
      extensions: naming('id', 'user'),
      description:
        'The account of the primary assignee. It replaces the previous primary assignee in the list of assignees; null removes that one from the list.',
    }),
    assigneeUserAccountIds: t.idList({
      extensions: naming('id', 'user'),
      description: `The accounts of all assignees, at most ${limits.people} different ones. An update replaces the whole list. Unless the primary assignee is set too, it stays if it is in the list; otherwise the first in the list becomes the primary assignee.`,
    }),
    labelIds: t.idList({
      extensions: naming('id', 'label'),
      description: `The ids of all labels, at most ${limits.labels} different ones. An update replaces the whole list. A label must belong to the issue's team or to the whole workspace, and must not be a group.`,
    }),
    parentIssueId: t.id({
      extensions: naming('id', 'issue'),
      description: 'The parent issue.',
    }),
    roleAssignments: t.field({
      type: [RoleAssignmentInput],
      description: `All role assignments, at most ${limits.people}. An update replaces the whole list.`,
    }),
  };
}

const IssueCreateInput = builder.inputType('IssueCreateInput', {
  description: 'The issue to create. Fields that are omitted or null stay empty.',
  fields: (t) => ({
    teamId: t.id({
      extensions: naming('id', 'team'),
      required: true,
      description: 'The team that the issue will belong to.',
    }),
    title: t.string({ required: true, description: 'The title, 1 to 255 characters after trimming.' }),
    statusId: t.id({
      extensions: naming('id', 'status'),
      description: "The first status of the issue, one of its team; the team's initial status when omitted.",
    }),
    ...sharedFields(t),
  }),
});

function changedFields(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return {
    title: t.string({ description: 'The title, 1 to 255 characters after trimming. It cannot be null.' }),
    statusId: t.id({
      extensions: naming('id', 'status'),
      description: "The new status, one of the issue's team. It cannot be null.",
    }),
    ...sharedFields(t),
  };
}

const IssueUpdateInput = builder.inputType('IssueUpdateInput', {
  description: 'A change to an issue. A field that is omitted does not change; null clears it.',
  fields: (t) => ({
    key: issueKey(t),
    expectedRevision: expectedRevision(t),
    ...changedFields(t),
  }),
});

const IssueBatchUpdateInput = builder.inputType('IssueBatchUpdateInput', {
  description: 'One change to several issues. A field that is omitted does not change; null clears it.',
  fields: (t) => ({
    keys: t.stringList({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The keys or ids of the issues, 1 to 50.',
    }),
    ...changedFields(t),
  }),
});

/** An input that only identifies an issue. */
function issueInput(name: string, description: string, which?: string) {
  return builder.inputType(name, { description, fields: (t) => ({ key: issueKey(t, which) }) });
}

const IssueDeleteInput = builder.inputType('IssueDeleteInput', {
  description: 'The issue to delete.',
  fields: (t) => ({
    key: issueKey(t),
    expectedRevision: expectedRevision(t),
  }),
});
const IssueRestoreInput = issueInput(
  'IssueRestoreInput',
  'The deleted issue to restore.',
  'the deleted issue',
);
const IssueSubscribeInput = issueInput('IssueSubscribeInput', 'The issue to subscribe to.');
const IssueUnsubscribeInput = issueInput('IssueUnsubscribeInput', 'The issue to unsubscribe from.');

function issuePayload(name: string, description: string) {
  return builder.objectRef<{ issue: IssueRow }>(name).implement({
    description,
    scope: 'inherited',
    fields: (t) => ({
      issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
    }),
  });
}

const IssueCreatePayload = issuePayload('IssueCreatePayload', 'The result of creating an issue.');
const IssueUpdatePayload = issuePayload('IssueUpdatePayload', 'The result of the update.');
const IssueRestorePayload = issuePayload('IssueRestorePayload', 'The result of restoring the issue.');
const IssueSubscribePayload = issuePayload('IssueSubscribePayload', 'The result of subscribing.');
const IssueUnsubscribePayload = issuePayload('IssueUnsubscribePayload', 'The result of unsubscribing.');

const IssueBatchUpdatePayload = builder
  .objectRef<{ issues: IssueRow[] }>('IssueBatchUpdatePayload')
  .implement({
    description: 'The result of the update.',
    scope: 'inherited',
    fields: (t) => ({
      issues: t.expose('issues', {
        type: [Issue.ref],
        description: 'The issues, after the change, in the order of the keys, each once.',
      }),
    }),
  });

const IssueDeletePayload = builder.objectRef<IssueRow>('IssueDeletePayload').implement({
  description: 'The result of the deletion.',
  scope: 'inherited',
  fields: (t) => ({
    deletedIssueId: t.idOf('issue', 'id', {
      description: 'The id of the issue. It is valid again if the issue is restored.',
    }),
  }),
});

mutation(
  'issueCreate',
  IssueCreateInput,
  IssueCreatePayload,
  async (ctx, input) => ({ issue: await createIssue(ctx, input) }),
  {
    description:
      'Creates an issue with the next number of its team. The viewer becomes its reporter and is subscribed to it.',
    scope: 'issues:write',
    extensions: { storesKey: true },
    events: ['issue.created.v1'],
  },
);

mutation(
  'issueUpdate',
  IssueUpdateInput,
  IssueUpdatePayload,
  async (ctx, input) => ({ issue: await updateIssue(ctx, input) }),
  {
    description: 'Changes those fields of an issue that are set in the input.',
    scope: 'issues:write',
    extensions: { storesKey: true },
    events: ['issue.updated.v1'],
  },
);

mutation(
  'issueBatchUpdate',
  IssueBatchUpdateInput,
  IssueBatchUpdatePayload,
  async (ctx, input) => ({ issues: await updateIssues(ctx, input) }),
  {
    description:
      'Makes the same change to several issues. If it is invalid for one of them, none is changed. Revisions are not compared.',
    scope: 'issues:write',
    extensions: { rows: ({ input }: { input: { keys: string[] } }) => input.keys.length },
    events: ['issue.updated.v1'],
  },
);

const maxSubIssues = limits.subIssuesAtOnce.toLocaleString('en');

mutation('issueDelete', IssueDeleteInput, IssueDeletePayload, deleteIssue, {
  description: `Deletes an issue. Its sub-issues remain, without a parent; with more than ${maxSubIssues}, deleted ones included, it is refused with CONFLICT. It can be restored for 30 days.`,
  scope: 'issues:write',
  events: ['issue.deleted.v1', 'issue.updated.v1'],
});

mutation(
  'issueRestore',
  IssueRestoreInput,
  IssueRestorePayload,
  async (ctx, input) => ({ issue: await restoreIssue(ctx, input) }),
  {
    description: `Restores an issue that was deleted in the last 30 days, and puts its former sub-issues under it again. With more than ${maxSubIssues}, it is refused with CONFLICT.`,
    scope: 'issues:write',
    events: ['issue.restored.v1', 'issue.updated.v1'],
  },
);

mutation(
  'issueSubscribe',
  IssueSubscribeInput,
  IssueSubscribePayload,
  async (ctx, input) => ({ issue: await subscribeToIssue(ctx, input) }),
  {
    description: 'Subscribes the viewer to an issue.',
    scope: 'issues:write',
    events: { none: 'a subscription concerns only the member who has it' },
  },
);

mutation(
  'issueUnsubscribe',
  IssueUnsubscribeInput,
  IssueUnsubscribePayload,
  async (ctx, input) => ({ issue: await unsubscribeFromIssue(ctx, input) }),
  {
    description: 'Unsubscribes the viewer from an issue.',
    scope: 'issues:write',
    events: { none: 'a subscription concerns only the member who has it' },
  },
);
