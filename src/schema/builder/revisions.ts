import type { Types } from './builder.ts';

/** The input field by which a client says what it has read; the same on all changes and deletions of one thing. */
export function expectedRevision(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return t.int({
    description:
      'The `revision` that the change is meant for; with any other it is refused as PRECONDITION_FAILED: read the thing again, then.',
  });
}
