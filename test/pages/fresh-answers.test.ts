import { expect, it } from '@jest/globals';
import { type FieldNode, Kind, OperationTypeNode, parse, type SelectionSetNode } from 'graphql';
import { pageDocuments } from '../../src/server/pages/page-documents.ts';

/** Queries whose answers no event corrects and no later answer contradicts. */
const independent = ['AttachmentAddresses'];

it('each query of a page is answered at least as new as the events that the page has shown', () => {
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

/** The fields of a name that no directive excludes. */
function always({ selections }: SelectionSetNode, name: string): FieldNode[] {
  return selections
    .filter((selection) => selection.kind === Kind.FIELD)
    .filter((field) => field.name.value === name && !field.directives?.length);
}
