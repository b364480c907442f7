import {
  AliasNode,
  AndNode,
  type BinaryOperationNode,
  type ColumnUpdateNode,
  DeleteQueryNode,
  type InsertQueryNode,
  type JoinNode,
  MergeQueryNode,
  OnNode,
  type OperationNode,
  OrNode,
  ParensNode,
  RawNode,
  ReferenceNode,
  type RootOperationNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
  WhereNode,
  type WithNode,
} from 'kysely';
import { inSql } from '../tables/sql-names.ts';
import { globalTables, tenantTables } from '../tables/tenant-tables.ts';
import { identifierOf } from './identifiers.ts';
import { isLeaf, isNode, isQuery, itemsOf, tableOf } from './query-nodes.ts';
import type { Query } from './query-nodes.ts';
import { readRaw } from './raw-tables.ts';
import { TenantError } from './tenant-error.ts';
import { isWorkspaceColumn, workspaceIdColumn, WorkspaceValue } from './workspace-value.ts';
import type { ValueOrSlot } from '../statements/slots.ts';

/** The names of the CTEs that a query can read. */
type Ctes = ReadonlySet<string>;

const noCtes: Ctes = new Set();
const globals = namesInSql(globalTables);
const tenants = namesInSql(tenantTables);

/**
 * Adds the conditions of one workspace to statements whose names are in snake_case. Kysely transforms some subqueries
 * both alone and within their statement, so adding twice must change nothing. Nodes that need no condition are not
 * copied.
 */
export class TenantAdder {
  readonly #value: WorkspaceValue;

  constructor(workspace: ValueOrSlot<string>) {
    this.#value = new WorkspaceValue(workspace);
  }

  /** Binds a statement to the workspace. Throws a TenantError if it contains something that cannot be bound. */
  addTo(root: RootOperationNode): RootOperationNode {
    if (isQuery(root)) return this.#query(root, noCtes);
    if (RawNode.is(root)) return this.#raw(root, noCtes, true);
    throw new TenantError(`${root.kind} is not for tenants: run it on the unscoped database.`);
  }

  #query(node: Query, outer: Ctes): Query {
    const [bound, ctes] = node.with ? this.#ctes(node, node.with, outer) : [node, outer];
    const inner = this.#below(bound, ctes, 'with');
    if (SelectQueryNode.is(inner)) return this.#filtered(inner, [], inner.from?.froms, ctes);
    if (UpdateQueryNode.is(inner)) {
      refuseWorkspaceUpdate(inner.updates);
      return this.#filtered(inner, itemsOf(inner.table), inner.from?.froms, ctes);
    }
    if (DeleteQueryNode.is(inner)) return this.#filtered(inner, inner.from.froms, inner.using?.tables, ctes);
    return this.#inserted(inner);
  }

  /** Binds the CTEs. Each can read those before it and, in a recursive clause, itself. */
  #ctes(node: Query, clause: WithNode, outer: Ctes): [node: Query, ctes: Ctes] {
    const ctes = new Set(outer);
    let isChanged = false;
    const expressions = clause.expressions.map((cte) => {
      const name = identifierOf(cte.name.table);
      if (clause.recursive) ctes.add(name);
      const expression = this.#node(cte.expression, ctes);
      ctes.add(name);
      if (expression === cte.expression) return cte;
      isChanged = true;
      return { ...cte, expression };
    });
    return [isChanged ? { ...node, with: { ...clause, expressions } } : node, ctes];
  }

  /** Adds the conditions of a select, an update or a delete. `targets` are the tables that it writes. */
  #filtered<Node extends SelectQueryNode | UpdateQueryNode | DeleteQueryNode>(
    node: Node,
    targets: readonly OperationNode[],
    sources: readonly OperationNode[] | undefined,
    ctes: Ctes,
  ): Node {
    const conditions: BinaryOperationNode[] = [];
    // A CTE cannot be written, so a target of that name is the table.
    for (const target of targets) conditions.push(...this.#condition(target, noCtes));
    for (const source of sources ?? []) conditions.push(...this.#condition(source, ctes));
    const joins = node.joins?.map((join) => this.#joined(join, conditions, ctes));
    const where = this.#added(node.where?.where, conditions);
    const isJoinsChanged = joins?.some((join, index) => join !== node.joins?.[index]);
    if (where === node.where?.where && !isJoinsChanged) return node;
    return { ...node, ...(where && { where: WhereNode.create(where) }), ...(isJoinsChanged && { joins }) };
  }

  /** Adds the condition of a joined table to its `on`, which is also correct for the nullable side of a left join. */
  #joined(join: JoinNode, where: BinaryOperationNode[], ctes: Ctes): JoinNode {
    const { joinType, table } = join;
    const conditions = this.#condition(table, ctes);
    switch (joinType) {
      case 'InnerJoin':
      case 'LateralInnerJoin':
      case 'LeftJoin':
      case 'LateralLeftJoin': {
        const on = this.#added(join.on?.on, conditions);
        return on && on !== join.on?.on ? { ...join, on: OnNode.create(on) } : join;
      }
      case 'CrossJoin':
      case 'LateralCrossJoin':
        where.push(...conditions);
        return join;
      default:
        throw new TenantError(
          `A ${joinType} keeps rows that no condition filters: use another kind of join.`,
        );
    }
  }

  /** The condition that a table in a query needs; none for a CTE, a subquery or a table without a workspace. */
  #condition(source: OperationNode, ctes: Ctes): BinaryOperationNode[] {
    const table = tableOf(source);
    if (RawNode.is(table)) this.#refuseTables(table, ctes, true);
    if (!TableNode.is(table) || (!table.table.schema && ctes.has(identifierOf(table)))) return [];
    if (!isTenantTable(table)) return [];
    return [this.#value.conditionOn(identifierOf(AliasNode.is(source) ? source.alias : table))];
  }

  #added(condition: OperationNode | undefined, additions: readonly BinaryOperationNode[]) {
    const present = conjuncts(condition);
    const missing = additions.filter(
      (addition) => !present.some((it) => this.#value.isCondition(it, addition)),
    );
    // AND binds more tightly than OR, so a condition with an OR is put in parentheses.
    const closed =
      condition && present.some((it) => OrNode.is(it)) ? ParensNode.create(condition) : condition;
    return missing.length === 0
      ? condition
      : missing.reduce<OperationNode | undefined>(
          (sum, addition) => (sum ? AndNode.create(sum, addition) : addition),
          closed,
        );
  }

  #inserted(node: InsertQueryNode): InsertQueryNode {
    const { into, columns, values, onConflict } = node;
    const table = tableOf(into);
    if (node.onDuplicateKey || node.orAction || node.replace)
      throw new TenantError('The insert uses SQL that PostgreSQL does not have.');
    if (!TableNode.is(table) || !isTenantTable(table)) return node;
    refuseWorkspaceUpdate(onConflict?.updates);
    const name = identifierOf(table);
    if (!columns || !values) throw new TenantError(`The insert into "${name}" has no list of columns.`);
    const conflict = onConflict && this.#value.onConflict(onConflict, name);
    const index = columns.findIndex(isWorkspaceColumn);
    if (index >= 0) {
      if (!this.#value.isInserted(values, index))
        throw new TenantError(`The insert into "${name}" sets workspaceId: leave it to the handle.`);
      return conflict === onConflict ? node : { ...node, onConflict: conflict };
    }
    return {
      ...node,
      columns: [...columns, workspaceIdColumn],
      values: this.#value.insertedInto(name, values),
      ...(conflict && { onConflict: conflict }),
    };
  }

  /** Binds all queries below a node. Returns the same node if nothing changes. */
  #below<Node extends OperationNode>(node: Node, ctes: Ctes, except?: string): Node {
    const original: object = node;
    const children: Readonly<Record<string, unknown>> = { ...original };
    let changed: Record<string, unknown> | undefined;
    for (const name of Object.keys(children)) {
      const child = children[name];
      if (typeof child !== 'object' || child === null || name === except) continue;
      const bound = Array.isArray(child)
        ? this.#list(child, ctes)
        : isNode(child)
          ? this.#node(child, ctes)
          : child;
      if (bound !== child) (changed ??= { ...children })[name] = bound;
    }
    return (changed as Node | undefined) ?? node;
  }

  #list(nodes: readonly unknown[], ctes: Ctes): readonly unknown[] {
    let changed: unknown[] | undefined;
    for (const [index, child] of nodes.entries()) {
      if (!isNode(child)) continue;
      const bound = this.#node(child, ctes);
      if (bound !== child) (changed ??= [...nodes])[index] = bound;
    }
    return changed ?? nodes;
  }

  #node(node: OperationNode, ctes: Ctes): OperationNode {
    if (isLeaf(node)) return node;
    if (isQuery(node)) return this.#query(node, ctes);
    if (RawNode.is(node)) return this.#raw(node, ctes, false);
    if (MergeQueryNode.is(node)) throw new TenantError('A merge cannot be bound to a workspace.');
    return this.#below(node, ctes);
  }

  #raw(node: RawNode, ctes: Ctes, isStatement: boolean): RawNode {
    const { leak } = this.#refuseTables(node, ctes, false);
    if (leak && !isStatement)
      throw new TenantError(
        `Raw SQL has an open ${leak}, which may disable the conditions next to it: put it in parentheses.`,
      );
    return this.#parameters(node, ctes);
  }

  /**
   * Binds the queries in a raw fragment. Fragments that are spliced into it have already been read as part of its text.
   */
  #parameters(node: RawNode, ctes: Ctes): RawNode {
    let changed: OperationNode[] | undefined;
    for (const [index, parameter] of node.parameters.entries()) {
      if (TableNode.is(parameter)) throw rawTable(identifierOf(parameter));
      const bound = RawNode.is(parameter) ? this.#parameters(parameter, ctes) : this.#node(parameter, ctes);
      if (bound !== parameter) (changed ??= [...node.parameters])[index] = bound;
    }
    return changed ? { ...node, parameters: changed } : node;
  }

  #refuseTables(node: RawNode, ctes: Ctes, isTable: boolean) {
    const contents = readRaw(node, isTable);
    for (const table of contents.tables) if (!ctes.has(table) && !globals.has(table)) throw rawTable(table);
    return contents;
  }
}

/** The names of tables in snake_case, as CamelCasePlugin writes them. */
function namesInSql(tables: object): ReadonlySet<string> {
  const names = Object.keys(tables);
  return new Set(names.map(inSql));
}

function isTenantTable({ table: { schema, identifier } }: TableNode): boolean {
  const { name } = identifier;
  if (!schema && tenants.has(name)) return true;
  if (!schema && globals.has(name)) return false;
  throw new TenantError(`"${schema ? `${schema.name}.` : ''}${name}" is neither a table nor a CTE in scope.`);
}

function rawTable(table: string): TenantError {
  return new TenantError(`Raw SQL names the table "${table}": use the query builder instead.`);
}

/** The conditions that must all be true, without those inside an `or`, a `not` or a function. */
function conjuncts(condition: OperationNode | undefined): OperationNode[] {
  const found: OperationNode[] = [];
  const open = condition ? [condition] : [];
  for (let node = open.pop(); node; node = open.pop()) {
    if (AndNode.is(node)) open.push(node.right, node.left);
    else if (ParensNode.is(node) && !OrNode.is(node.node)) open.push(node.node);
    else found.push(node);
  }
  return found;
}

/** Refuses to move a row to another workspace. */
function refuseWorkspaceUpdate(updates: readonly ColumnUpdateNode[] | undefined): void {
  for (const { column } of updates ?? []) {
    if (isWorkspaceColumn(ReferenceNode.is(column) ? column.column : column))
      throw new TenantError('An update sets workspaceId: a row never leaves its workspace.');
  }
}
