/**
 * What issues are tallied by, each with their status: how many living ones there are, and the sum of their estimates.
 * Those of a team are tallied by their priority, too.
 */
export const tallyKinds = { team: 1, primaryAssignee: 2, label: 3, project: 4, delivery: 5 } as const;
export type TallyKind = keyof typeof tallyKinds;

/** The group of issues without a label. Those without an assignee, a project or a delivery are in no group of that kind. */
export const noLabel = '00000000-0000-0000-0000-000000000000';

/** The slot with what counting all issues has found. Writes add to others. */
export const countedSlot = 0;
