import { builder } from './builder.ts';

const BooleanFilter = builder.inputType('BooleanFilter', { fields: (t) => ({ eq: t.boolean() }) });
const StatusFilter = builder.inputType('IssueStatusFilter', {
  fields: (t) => ({ isTerminal: t.field({ type: BooleanFilter }) }),
});
const IDFilter = builder.inputType('IDFilter', { fields: (t) => ({ eq: t.id() }) });
const DateTimeFilter = builder.inputType('DateTimeFilter', {
  fields: (t) => ({ lt: t.field({ type: 'DateTime' }) }),
});
export const IssueFilter = builder.inputType('IssueFilter', {
  fields: (t) => ({
    teamId: t.field({ type: IDFilter }),
    createdUtc: t.field({ type: DateTimeFilter }),
    status: t.field({ type: StatusFilter }),
  }),
});
export const IssueOrder = builder.inputType('IssueOrder', {
  fields: (t) => ({
    field: t.field({
      type: builder.enumType('IssueOrderField', { values: ['CREATED', 'UPDATED'] as const }),
      required: true,
    }),
    direction: t.field({ type: builder.enumType('SortDirection', { values: ['ASC', 'DESC'] as const }) }),
  }),
});
