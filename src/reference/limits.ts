/** How many rows of reference data are cached for all workspaces together, by default. */
export const defaultMaxRows = 200_000;
