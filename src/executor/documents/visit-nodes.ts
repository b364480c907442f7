import { type ASTNode, Kind } from 'graphql';

/** For each kind of node in executable documents, the properties that hold nodes. */
const childProperties: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  [Kind.DOCUMENT]: ['definitions'],
  [Kind.OPERATION_DEFINITION]: ['name', 'variableDefinitions', 'directives', 'selectionSet'],
  [Kind.VARIABLE_DEFINITION]: ['variable', 'type', 'defaultValue', 'directives'],
  [Kind.VARIABLE]: ['name'],
  [Kind.SELECTION_SET]: ['selections'],
  [Kind.FIELD]: ['alias', 'name', 'arguments', 'directives', 'selectionSet'],
  [Kind.ARGUMENT]: ['name', 'value'],
  [Kind.FRAGMENT_SPREAD]: ['name', 'directives'],
  [Kind.INLINE_FRAGMENT]: ['typeCondition', 'directives', 'selectionSet'],
  [Kind.FRAGMENT_DEFINITION]: ['name', 'variableDefinitions', 'typeCondition', 'directives', 'selectionSet'],
  [Kind.LIST]: ['values'],
  [Kind.OBJECT]: ['fields'],
  [Kind.OBJECT_FIELD]: ['name', 'value'],
  [Kind.DIRECTIVE]: ['name', 'arguments'],
  [Kind.NAMED_TYPE]: ['name'],
  [Kind.LIST_TYPE]: ['type'],
  [Kind.NON_NULL_TYPE]: ['type'],
};

type ParentNode = Readonly<Record<string, ASTNode | readonly ASTNode[] | undefined>>;

/**
 * Calls `enter` for a node of an executable document and all nodes below it, in the order of the text. `visit` of
 * graphql-js can also edit, which takes several times as long. Recursion is safe, since the nesting is limited.
 */
export function visitNodes(node: ASTNode, enter: (node: ASTNode) => void): void {
  enter(node);
  for (const name of childProperties[node.kind] ?? []) {
    const children = (Object(node) as ParentNode)[name];
    if (children === undefined) continue;
    if ('kind' in children) visitNodes(children, enter);
    else for (const each of children) visitNodes(each, enter);
  }
}
