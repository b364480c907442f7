/** Rows of reference data kept over all workspaces when nothing is said. */
export const defaultMaxRows = 200_000;
