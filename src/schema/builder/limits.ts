/** The maximum lengths of texts and lists, which descriptions in the schema mention. */
export { limits } from '../../model/limits.ts';
export { blankRule } from '../../resolvers/writes/write-rules.ts';
