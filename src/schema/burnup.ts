import { maxPeriods } from '../model/statistics-limits.ts';
import { type Burnup, type BurnupDay, type BurnupSource, burnups } from '../resolvers/trends/burnup.ts';
import { countPeriods } from '../resolvers/trends/periods.ts';
import { builder, type Types } from './builder/builder.ts';
import { dayArguments, historyField } from './periods.ts';

const BurnupDayRef = builder.objectRef<BurnupDay>('BurnupDay');
BurnupDayRef.implement({
  description: 'The issues at the end of a day, or now if it has not ended, and the sums of their estimates.',
  scope: 'inherited',
  fields: (t) => ({
    onDate: t.expose('onDate', { type: 'Date', description: 'The day.' }),
    scope: t.exposeInt('scope', { description: 'The number of issues.' }),
    started: t.exposeInt('started', { description: 'The number of issues in an active status.' }),
    done: t.exposeInt('done', { description: 'The number of issues that are done.' }),
    scopeEstimate: t.exposeInt('scopeEstimate', {
      description: 'The sum of the estimates of the issues, at most 2,147,483,647.',
    }),
    startedEstimate: t.exposeInt('startedEstimate', {
      description: 'The sum of the estimates of the issues in an active status, at most 2,147,483,647.',
    }),
    doneEstimate: t.exposeInt('doneEstimate', {
      description: 'The sum of the estimates of the issues that are done, at most 2,147,483,647.',
    }),
  }),
});

const BurnupRef = builder.objectRef<Burnup>('Burnup');
BurnupRef.implement({
  description: 'How the planned work and the completed work grew, day by day.',
  scope: 'inherited',
  fields: (t) => ({
    ...historyField(t),
    days: t.expose('days', {
      type: [BurnupDayRef],
      description: `The days in chronological order, up to today; at most ${maxPeriods}.`,
    }),
  }),
});

/** The field `burnup` of a type that issues are planned in. */
export function burnupField(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, { id: string }>,
  of: BurnupSource,
  description: string,
) {
  return t.series({
    type: BurnupRef,
    key: 'id',
    scope: 'issues:read',
    extensions: {
      periods: true,
      readsLikePages: 4,
      rows: (days: { from: string; to: string }) =>
        Math.min(countPeriods({ every: 'day', ...days }), maxPeriods),
    },
    description,
    args: dayArguments(t.arg),
    load: (ctx, args, keys) => burnups(ctx, of, args, keys),
  });
}
