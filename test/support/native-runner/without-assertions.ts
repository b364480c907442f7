/**
 * Tests that may assert nothing, by the end of the path of their file. Most wait for a condition, and fail by a timeout, or call a
 * function that throws. The cells of a matrix are generated, and some of them have nothing to compare.
 */
export const withoutAssertions: Readonly<Record<string, readonly string[]>> = {
  'attachments/janitor.test.ts': ['the janitor works in one process of a database at a time'],
  'live/sequencer-failures.test.ts': ['a workspace that failed and now waits for a lock delays no other'],
  'pages/board-updates.test.ts': [
    'is live in the seventh tab of a browser, and in the first when it is shown again',
    'reads everything again if changes after its cursor were removed from the log',
    'shows an issue whose title contains a line separator',
  ],
  'pages/previews.test.ts': ['shows a PDF in the viewer of the browser in spite of its strict policy'],
  'security/isolation-writes.test.ts': ['GET /v1/webhooks'],
  'security/scope-matrix.test.ts': [
    'refuses filters on what a token with issues:write may not read',
    'refuses filters on what a token with workspace:admin may not read',
  ],
  'server/supervisor.test.ts': [
    'tells all workers which caller has no objects left',
    'fails when no worker is left and none can start',
  ],
};
