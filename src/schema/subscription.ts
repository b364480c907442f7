import { changePageTest, readChangeEvents, maxStreamedChanges } from '../resolvers/changes/change-events.ts';
import { type IssueEvent, issuePageTest, readIssueEvents } from '../resolvers/issues/issue-events.ts';
import { builder } from './builder/builder.ts';
import { needsOfFilter } from './builder/lists.ts';
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
        'The issue is in the list, and it has changed. A client that does not have the issue in its list adds it; the event that put it there follows soon.',
    },
    LEFT: { description: 'The issue is not in the list, and may have been before.' },
  },
});

const IssueListEvent = builder.objectRef<IssueEvent>('IssueListEvent');
IssueListEvent.implement({
  description: 'What happened to an issue of a list, by one change or by several that are reported together.',
  scope: 'inherited',
  fields: (t) => ({
    kind: t.expose('kind', { type: IssueListEventKind, description: 'What happened to the list.' }),
    cursor: t.exposeString('cursor', { description: 'The cursor to continue from after this event.' }),
    issueId: t.idOf('issue', 'issueId', { description: 'The id of the issue.' }),
    issue: t.reference(Issue, 'issueId', {
      nullable: true,
      scope: 'issues:read',
      description: 'The issue as it is now; null if it was deleted.',
    }),
    changes: t.expose('changes', {
      type: [Change.ref],
      description: `The changes of the issue, oldest first, at most ${maxStreamedChanges}.`,
    }),
  }),
});

const afterDescription = (next: string) =>
  `The stream begins after this cursor: that of a change, or \`workspace { changeCursor }\`. When omitted, it begins with the next ${next}. The header \`Last-Event-ID\` takes precedence.`;

builder.subscriptionType({
  description:
    'All subscriptions. The answer is a stream of server-sent events, which a client resumes with the id of the last event that it received.',
  fields: (t) => ({
    changes: t.events({
      type: Change.ref,
      scope: 'token',
      description:
        'Each change of the workspace as it is made, in order, as far as the scopes of the token cover it. Raises CURSOR_EXPIRED if entries after the cursor have been removed from the log.',
      args: {
        after: t.arg.string({ extensions: naming('cursor'), description: afterDescription('change') }),
        filter: t.arg({
          type: Change.filterInput(),
          description: 'The changes to report; all when omitted.',
        }),
      },
      extensions: { needsOfArguments: needsOfFilter(Change) },
      read: (ctx, { filter }, from) =>
        readChangeEvents(ctx, () => Change.filterFields(), { after: from, filter }),
      pageTest: (ctx, { filter }) => changePageTest(ctx, () => Change.filterFields(), filter),
    }),
    issues: t.events({
      type: IssueListEvent,
      nullable: true,
      scope: 'issues:read',
      description:
        'A live list: the issues that enter the list of a filter, change in it or leave it. Several changes of an issue that are ready at the same time are one event. Null, together with the extensions `reset: true` and `cursor`, means that more has changed than events can report: read the list again. The stream continues after this cursor. Raises CURSOR_EXPIRED if entries after the cursor have been removed from the log.',
      args: {
        after: t.arg.string({ extensions: naming('cursor'), description: afterDescription('event') }),
        filter: t.arg({
          type: Issue.filterInput(),
          description:
            'The issues of the list; all when omitted. A filter by other issues (`parent`) is refused.',
        }),
      },
      extensions: { needsOfArguments: needsOfFilter(Issue) },
      read: (ctx, { filter }, from) =>
        readIssueEvents(ctx, () => Issue.filterFields(), { after: from, filter }),
      pageTest: (ctx, { filter }) => issuePageTest(ctx, () => Issue.filterFields(), filter),
    }),
  }),
});
