import { stripTypeScriptTypes } from 'node:module';

/**
 * The jest transformer: what Node itself does to a .ts file. Types become blanks, so every line and
 * column stays where it was and stack traces need no source map.
 */
export default {
  process(source) {
    return { code: stripTypeScriptTypes(source, { mode: 'strip' }) };
  },
};
