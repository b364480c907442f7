/** How long texts and lists may be at most: what the fields of the schema say in words. */
export { limits } from '../../model/limits.ts';
export { blankRule } from '../../resolvers/writes/write-rules.ts';
