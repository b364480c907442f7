import { expect, it } from '@jest/globals';
import { type FieldNode, Kind, OperationTypeNode, parse, type SelectionSetNode } from 'graphql';
import { pageDocuments } from '../../src/server/pages/page-documents.ts';

/** Queries that may be answered by a replica that is behind, because their answers do not depend on events. */
const independent = ['AttachmentAddresses'];

// A query that selects the cursor is never answered by a replica that is behind.
it('each query of a page selects the cursor of the changes', () => {
  const queries = [...pageDocuments.values()]
    .flatMap((text) => parse(text).definitions)
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .filter(
      ({ operation, name }) =>
        operation === OperationTypeNode.QUERY && !independent.includes(name?.value ?? ''),
    );
  expect(queries.length).toBeGreaterThan(5);
  const stale = queries.filter(({ selectionSet }) => {
    const cursors = always(selectionSet, 'workspace').flatMap((each) =>
      each.selectionSet ? always(each.selectionSet, 'changeCursor') : [],
    );
    return cursors.length === 0;
  });
  expect(stale.map(({ name }) => name?.value)).toEqual([]);
});

/** The selected fields with this name that no directive can exclude. */
function always({ selections }: SelectionSetNode, name: string): FieldNode[] {
  return selections
    .filter((selection) => selection.kind === Kind.FIELD)
    .filter((field) => field.name.value === name && !field.directives?.length);
}
