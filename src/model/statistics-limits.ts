/** The maximum number of columns by which statistics may be grouped. */
export const maxStatsDimensions = 3;
/** The maximum number of groups of statistics that one request may ask for. */
export const maxStatsGroups = 1000;

/** The maximum number of groups of a trend, and the default. */
export const maxTrendGroups = 100;
export const defaultTrendGroups = 10;

/** The maximum number of periods of a trend: more than a year of days. */
export const maxPeriods = 400;
/** The first and the last day that a period may contain. */
export const firstDay = '1900-01-01';
export const lastDay = '2199-12-31';
