import {
  AliasNode,
  BinaryOperationNode,
  CastNode,
  ColumnNode,
  DataTypeNode,
  IdentifierNode,
  OnConflictNode,
  type OperationNode,
  OperatorNode,
  PrimitiveValueListNode,
  ReferenceNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  ValueNode,
  ValuesNode,
} from 'kysely';
import type { ValueOrSlot } from '../statements/slots.ts';
import { identifierOf } from './identifiers.ts';
import { TenantError } from './tenant-error.ts';

const name = 'workspace_id';
/** The column that all tenant tables have. */
export const workspaceIdColumn = ColumnNode.create(name);

const equals = OperatorNode.create('=');

export function isWorkspaceColumn(node: OperationNode): boolean {
  return ColumnNode.is(node) && identifierOf(node) === name;
}

/** The id of a workspace as a value in statements, with the nodes that compare and insert it. */
export class WorkspaceValue {
  readonly #workspace: ValueOrSlot<string>;
  readonly #value: ValueNode;
  /** The value in a select list, with a cast, because PostgreSQL cannot infer the type of a parameter there. */
  readonly #selection: SelectionNode;

  constructor(workspace: ValueOrSlot<string>) {
    this.#workspace = workspace;
    this.#value = ValueNode.create(workspace);
    this.#selection = SelectionNode.create(
      AliasNode.create(
        CastNode.create(this.#value, DataTypeNode.create('uuid')),
        IdentifierNode.create(name),
      ),
    );
  }

  /** `alias.workspace_id = <workspace>`. */
  conditionOn(alias: string): BinaryOperationNode {
    const column = ReferenceNode.create(workspaceIdColumn, TableNode.create(alias));
    return BinaryOperationNode.create(column, equals, this.#value);
  }

  /** Whether a node is equal to the condition, which has then already been added. */
  isCondition(node: OperationNode, { leftOperand: wanted }: BinaryOperationNode): boolean {
    if (!BinaryOperationNode.is(node)) return false;
    const { leftOperand: left, operator, rightOperand: right } = node;
    if (!ReferenceNode.is(left) || !left.table || !ReferenceNode.is(wanted) || !wanted.table) return false;
    const isEqual = OperatorNode.is(operator) && operator.operator === '=';
    const isOfAlias = identifierOf(left.table) === identifierOf(wanted.table);
    return isEqual && isOfAlias && isWorkspaceColumn(left.column) && this.#isValue(right);
  }

  /** The rows of an insert with the workspace as their last value. */
  insertedInto(table: string, values: OperationNode): OperationNode {
    if (ValuesNode.is(values)) {
      return ValuesNode.create(
        values.values.map((row) =>
          PrimitiveValueListNode.is(row)
            ? { ...row, values: [...row.values, this.#workspace] }
            : { ...row, values: [...row.values, this.#value] },
        ),
      );
    }
    if (!SelectQueryNode.is(values))
      throw new TenantError(`The insert into "${table}" has neither values nor a select.`);
    const { selections = [], setOperations } = values;
    return {
      ...values,
      selections: [...selections, this.#selection],
      ...(setOperations && {
        setOperations: setOperations.map((operation) => ({
          ...operation,
          expression: this.insertedInto(table, operation.expression),
        })),
      }),
    } as SelectQueryNode;
  }

  /** Whether each row of an insert has the workspace at an index, where it was added before. */
  isInserted(values: OperationNode, index: number): boolean {
    if (ValuesNode.is(values)) {
      return values.values.every((row) => {
        if (PrimitiveValueListNode.is(row)) return row.values[index] === this.#workspace;
        const value = row.values[index];
        return value !== undefined && this.#isValue(value);
      });
    }
    if (!SelectQueryNode.is(values)) return false;
    const selection = values.selections?.[index]?.selection;
    const cast = selection && AliasNode.is(selection) ? selection.node : undefined;
    const isSelected = cast !== undefined && CastNode.is(cast) && this.#isValue(cast.expression);
    const others = values.setOperations ?? [];
    return isSelected && others.every(({ expression }) => this.isInserted(expression, index));
  }

  /** Adds the workspace to the columns of a conflict, because all unique indexes of tenant tables start with it. */
  onConflict(conflict: OnConflictNode, table: string): OnConflictNode {
    const { columns, constraint, indexExpression, updates } = conflict;
    if (columns) {
      if (columns.some(isWorkspaceColumn)) return conflict;
      return OnConflictNode.cloneWith(conflict, { columns: [workspaceIdColumn, ...columns] });
    }
    if (updates || constraint || indexExpression)
      throw new TenantError(`On conflict of "${table}": name the columns that conflict.`);
    return conflict;
  }

  #isValue(node: OperationNode): boolean {
    return ValueNode.is(node) && node.value === this.#workspace;
  }
}
