/** Rows of reference data cached over all workspaces when nothing is said. */
export const defaultMaxRows = 200_000;
