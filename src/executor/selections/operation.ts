import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';

/** An operation with the fragments of its document. */
export interface Operation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** An operation as it will run: with the values of its variables after coercion. */
export interface CoercedOperation extends Operation {
  readonly variables: Record<string, unknown>;
}

/** The fragments of a document by name, found once for each document. */
export function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  let known = fragmentsByDocument.get(document);
  if (!known) {
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    known = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
    fragmentsByDocument.set(document, known);
  }
  return known;
}

const fragmentsByDocument = new WeakMap<DocumentNode, ReadonlyMap<string, FragmentDefinitionNode>>();
