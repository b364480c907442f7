/** The maximum lengths of texts and lists, which descriptions in the schema mention. */
export { limits } from '../../model/limits.ts';
export { blankRule } from '../../resolvers/writes/write-rules.ts';
export { maxStatsDimensions, maxStatsGroups } from '../../resolvers/issues/issue-stats.ts';
export { firstDay, maxPeriods } from '../../resolvers/trends/periods.ts';
export { defaultTrendGroups, maxTrendGroups } from '../../resolvers/trends/issue-trend.ts';
