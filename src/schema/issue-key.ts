import type { Types } from './builder/builder.ts';
import { naming } from './builder/naming.ts';

/** The input field that names the issue that a mutation is about. */
export function issueKey(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>, which = 'the issue') {
  return t.string({
    required: true,
    extensions: naming('key', 'issue'),
    description: `The key of ${which}, in upper or lower case, or its id.`,
  });
}

/** The input field with which a client makes sure that a resource is on the issue that it means. */
export function expectedIssueKey(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return t.string({
    extensions: naming('key', 'issue'),
    description: 'The key or id of the issue that it must be on; any issue when omitted.',
  });
}
