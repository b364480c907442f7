/**
 * The kinds of tallies, with their codes. A tally is the number of issues of a group in one status that are not
 * deleted, with the sum of their estimates. Tallies of teams are also divided by priority.
 */
export const tallyKinds = { team: 1, primaryAssignee: 2, label: 3, project: 4, delivery: 5 } as const;
export type TallyKind = keyof typeof tallyKinds;

/**
 * The group of issues without a label. Issues without an assignee, a project or a delivery have no tally of that kind.
 */
export const noLabel = '00000000-0000-0000-0000-000000000000';

/** The slot of the corrections that a recount of all issues adds. Writes use the other slots. */
export const countedSlot = 0;
