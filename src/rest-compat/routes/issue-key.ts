import { key } from '../params.ts';

/** The issue in a path. */
export const issueKey = key('issue', 'The key of the issue, in any case, such as ENG-42.');
