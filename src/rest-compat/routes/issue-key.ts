import { key } from '../params.ts';

/** The key of the issue in a path. */
export const issueKey = key('issue', 'The key of the issue, in upper or lower case, such as ENG-42.');
