/** The header of a file of ndjson whose team, ENG, has the statuses of a new one. */
export const ndjsonHeader = {
  _type: 'header',
  format: 'workgraph',
  version: 1,
  workspace: { id: 'there', name: 'There' },
  directory: { teams: [{ code: 'ENG', name: 'Engineering' }] },
};
