import {
  BinaryOperationNode,
  type ColumnNode,
  InsertQueryNode,
  type OperationNode,
  OperatorNode,
  OrNode,
  ParensNode,
  PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  type RootOperationNode,
  ValuesNode,
} from 'kysely';
import { identifierOf } from '../../src/db/guard/identifiers.ts';
import { fold } from '../support/tenant-prover/names.ts';

/** A statement with one of its tenant filters removed or weakened. */
export interface StatementMutant {
  what: string;
  node: RootOperationNode;
}

/** A path in a tree of nodes: properties and indices. */
type Path = readonly (string | number)[];

/** Makes one mutant for each way to weaken each tenant filter of a statement. */
export function mutantsOf(root: RootOperationNode): StatementMutant[] {
  return filtersIn(root).flatMap(({ path, node }) => {
    const spoiled = InsertQueryNode.is(node) ? spoiledInsert(node) : spoiledCondition(node);
    return spoiled.map((mutant) => ({
      what: `${mutant.what} at ${path.join('.')}`,
      node: replaced(root, path, mutant.node) as RootOperationNode,
    }));
  });
}

/** Finds the conditions that compare a workspaceId, and the inserts that write one. */
function filtersIn(root: OperationNode): { path: Path; node: OperationNode }[] {
  const found: { path: Path; node: OperationNode }[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...path, index]));
    else if (isNode(value)) {
      if (isTenantCondition(value) || writesWorkspace(value)) found.push({ path, node: value });
      for (const [name, child] of Object.entries(value)) visit(child, [...path, name]);
    }
  };
  visit(root, []);
  return found;
}

function isTenantCondition(node: OperationNode): boolean {
  if (!BinaryOperationNode.is(node)) return false;
  const isEquals = OperatorNode.is(node.operator) && node.operator.operator === '=';
  return isEquals && (isWorkspace(node.leftOperand) || isWorkspace(node.rightOperand));
}

function isWorkspace(node: OperationNode): boolean {
  const column = ReferenceNode.is(node) ? node.column : node;
  return fold(identifierOf(column)) === 'workspaceid';
}

function writesWorkspace(node: OperationNode): node is InsertQueryNode {
  return InsertQueryNode.is(node) && (node.columns ?? []).some((column) => isWorkspace(column));
}

function spoiledCondition(node: OperationNode): StatementMutant[] {
  const all = RawNode.createWithSql('true');
  const condition = node as BinaryOperationNode;
  return [
    { what: 'removed', node: all },
    { what: 'or true', node: ParensNode.create(OrNode.create(condition, all)) },
    { what: 'other workspaces', node: { ...condition, operator: OperatorNode.create('!=') } },
  ] as unknown as StatementMutant[];
}

/** The insert without its workspaceId. */
function spoiledInsert(node: InsertQueryNode): StatementMutant[] {
  const columns = node.columns ?? [];
  const workspaceIndex = columns.findIndex((column: ColumnNode) => isWorkspace(column));
  const without = <Item>(items: readonly Item[]) => items.filter((_item, each) => each !== workspaceIndex);
  const values =
    node.values && ValuesNode.is(node.values)
      ? ValuesNode.create(
          node.values.values.map(
            (row) => ({ ...row, values: without(row.values as readonly unknown[]) }) as typeof row,
          ),
        )
      : node.values;
  return [{ what: 'not written', node: { ...node, columns: without(columns), ...(values && { values }) } }];
}

function replaced(value: unknown, [step, ...rest]: Path, put: unknown): unknown {
  if (step === undefined) return put;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? replaced(item, rest, put) : item));
  const holder = value as Record<string | number, unknown>;
  return { ...holder, [step]: replaced(holder[step], rest, put) };
}

function isNode(value: unknown): value is OperationNode {
  return typeof value === 'object' && value !== null && 'kind' in value && !isValues(value);
}

/** Whether a list contains plain values instead of nodes. */
function isValues(value: object): boolean {
  return PrimitiveValueListNode.is(value as OperationNode);
}
