import { readChangeEvents } from '../resolvers/change-events.ts';
import { builder } from './builder/builder.ts';
import { filterScopes } from './builder/lists.ts';
import { naming } from './builder/naming.ts';
import { Change } from './changes.ts';

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
        after: t.arg.string({
          extensions: naming('cursor'),
          description:
            'Begins after this cursor: that of a change, or `workspace { changeCursor }`; with the next change if it is left out. The header `Last-Event-ID` goes before it.',
        }),
        filter: t.arg({ type: Change.filterInput(), description: 'The changes to tell; all when omitted.' }),
      },
      extensions: { scopeOfArguments: filterScopes(Change) },
      read: (ctx, { filter }, after) => readChangeEvents(ctx, () => Change.filterFields(), { after, filter }),
    }),
  }),
});
