import { maxPeriods } from '../model/statistics-limits.ts';
import type { ArgBuilder } from '@pothos/core';
import { type PeriodLength } from '../resolvers/trends/periods.ts';
import { builder, type Types } from './builder/builder.ts';

export const TrendPeriodLength = builder.enumType('TrendPeriodLength', {
  description: 'How long the periods of a trend are.',
  values: {
    DAY: { value: 'day', description: 'A day.' },
    WEEK: { value: 'week', description: 'A week from Monday to Sunday.' },
    MONTH: { value: 'month', description: 'A month of the calendar.' },
  } as const satisfies Record<string, { value: PeriodLength; description: string }>,
});

/** The arguments that select the days. */
export function dayArguments(arg: ArgBuilder<Types>) {
  return {
    from: arg({ type: 'Date', required: true, description: 'The first day.' }),
    to: arg({
      type: 'Date',
      required: true,
      description: `The last day. There may be at most ${maxPeriods} periods.`,
    }),
    timeZone: arg.string({
      required: true,
      defaultValue: 'UTC',
      description:
        'The IANA time zone of the days, such as Europe/Berlin. Days are 23 or 25 hours long where clocks change.',
    }),
  };
}

/** The arguments that select the periods: all that contain one of the days. */
export function periodArguments(arg: ArgBuilder<Types>) {
  return {
    every: arg({ type: TrendPeriodLength, required: true, description: 'How long a period is.' }),
    ...dayArguments(arg),
  };
}

/** The days of a period. */
export function periodFields(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, { startsOn: string; endsOn: string }>,
) {
  return {
    startsOn: t.expose('startsOn', { type: 'Date', description: 'The first day of the period.' }),
    endsOn: t.expose('endsOn', { type: 'Date', description: 'The last day of the period.' }),
  };
}

/** The field with the time from which the counts are complete. */
export function historyField(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, { historySinceUtc: Date | null }>,
) {
  return {
    historySinceUtc: t.expose('historySinceUtc', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time from which the history of the issues is complete; null if it is complete from the beginning. Before this time, it is only known when issues were created and closed, and they count with the project, delivery and estimate that they had at this time.',
    }),
  };
}
