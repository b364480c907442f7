import { changeSieve, readChangeEvents, streamedChanges } from '../resolvers/change-events.ts';
import { type IssueEvent, issueSieve, readIssueEvents } from '../resolvers/issues/issue-events.ts';
import { builder } from './builder/builder.ts';
import { filterScopes } from './builder/lists.ts';
import { naming } from './builder/naming.ts';
import { Change } from './changes.ts';
import { Issue } from './issues.ts';

const IssueListEventKind = builder.enumType('IssueListEventKind', {
  description: 'What happened to a list of issues.',
  values: {
    ENTERED: {
      description:
        'The issue is in the list, and may not have been before. If it is there already, it has changed.',
    },
    CHANGED: {
      description:
        'The issue is in the list, and something of it has changed. A client that does not know the issue adds it: why it is in the list is told soon.',
    },
    LEFT: { description: 'The issue is not in the list, and may have been before.' },
  },
});

const IssueListEvent = builder.objectRef<IssueEvent>('IssueListEvent');
IssueListEvent.implement({
  description: 'What happened to an issue of a list, by one change or by several that are told together.',
  fields: (t) => ({
    kind: t.expose('kind', { type: IssueListEventKind, description: 'What happened to the list.' }),
    cursor: t.exposeString('cursor', { description: 'The cursor to go on from after this event.' }),
    issueId: t.idOf('issue', 'issueId', { description: 'The id of the issue.' }),
    issue: t.reference(Issue, 'issueId', {
      nullable: true,
      scope: 'issues:read',
      description: 'The issue as it is now; null if it was deleted.',
    }),
    changes: t.expose('changes', {
      type: [Change.ref],
      description: `The changes of the issue, oldest first, at most ${streamedChanges}.`,
    }),
  }),
});

const afterOf = (what: string) =>
  `Begins after this cursor: that of a change, or \`workspace { changeCursor }\`; with the next ${what} if it is left out. The header \`Last-Event-ID\` goes before it.`;

builder.subscriptionType({
  description:
    'All subscriptions. They are answered with a stream of server-sent events, which goes on from the id of the last event.',
  fields: (t) => ({
    changes: t.events({
      type: Change.ref,
      scope: 'token',
      description:
        'Each change of the workspace as it is made, in order, as far as the scopes of the token cover it. Raises CURSOR_EXPIRED when the log does not go back to the cursor.',
      args: {
        after: t.arg.string({ extensions: naming('cursor'), description: afterOf('change') }),
        filter: t.arg({ type: Change.filterInput(), description: 'The changes to tell; all when omitted.' }),
      },
      extensions: { scopeOfArguments: filterScopes(Change) },
      read: (ctx, { filter }, from) =>
        readChangeEvents(ctx, () => Change.filterFields(), { after: from, filter }),
      sieve: (ctx, { filter }) => changeSieve(ctx, () => Change.filterFields(), filter),
    }),
    issues: t.events({
      type: IssueListEvent,
      scope: 'issues:read',
      description:
        'What enters the issues of a filter, changes in them and leaves them. Several changes of an issue that wait together are one event. An answer without data and with the extension `reset` means: read the list again, for more has changed than events can tell. Raises CURSOR_EXPIRED when the log does not go back to the cursor.',
      args: {
        after: t.arg.string({ extensions: naming('cursor'), description: afterOf('event') }),
        filter: t.arg({
          type: Issue.filterInput(),
          description:
            'The issues of the list; all when omitted. A filter by other issues (`parent`) is refused.',
        }),
      },
      extensions: { scopeOfArguments: filterScopes(Issue) },
      read: (ctx, { filter }, from) =>
        readIssueEvents(ctx, () => Issue.filterFields(), { after: from, filter }),
      sieve: (ctx, { filter }) => issueSieve(ctx, () => Issue.filterFields(), filter),
    }),
  }),
});
