import type { Types } from './builder.ts';

/** The input field with the revision that a client has read. All updates and deletions of one object have it. */
export function expectedRevision(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return t.int({
    description:
      'The `revision` that the client has read. If the current revision is another one, the mutation is refused with PRECONDITION_FAILED, and the client should read again.',
  });
}
