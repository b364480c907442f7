import {
  AliasNode,
  InsertQueryNode,
  MergeQueryNode,
  ParensNode,
  PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
  ValuesNode,
} from 'kysely';
import type {
  ColumnUpdateNode,
  DeleteQueryNode,
  JoinNode,
  OnConflictNode,
  OperationNode,
  WithNode,
} from 'kysely';
import { allOf, anyOf, imply } from './binding-graph.ts';
import type { Fact } from './binding-graph.ts';
import { identifierOf } from '../../../src/db/guard/identifiers.ts';
import { fold } from './names.ts';
import { isLeaf, isNode, isQuery, itemsOf, tableOf } from '../../../src/db/guard/query-nodes.ts';
import type { Query } from '../../../src/db/guard/query-nodes.ts';
import { readRaw } from '../../../src/db/guard/raw-tables.ts';
import { bindCondition, filtersOf } from './conditions.ts';
import { columnFact, isWorkspaceId, Scope, workspaceColumnFact, workspaceFact } from './scopes.ts';
import type { Branch, Output } from './scopes.ts';

/** A fact that must be proved before a statement may run. */
export interface Demand {
  readonly fact: Fact;
  readonly table: string;
  /** The advice to the author of the statement, which is built only when the fact is not proved. */
  readonly remedy: () => string;
}

/** The demands of a statement, which must be proved from the axiom that a value from the caller is a bound workspace. */
export interface Reading {
  readonly axiom: Fact;
  readonly demands: readonly Demand[];
}

/** Collects the demands of a statement. `globals` are the folded names of the tables without a workspace. */
export function readStatement(root: OperationNode, globals: ReadonlySet<string>): Reading {
  const reader = new StatementReader(globals);
  reader.root(root);
  return reader;
}

class StatementReader implements Reading {
  readonly axiom = anyOf();
  readonly demands: Demand[] = [];
  readonly #globals: ReadonlySet<string>;

  constructor(globals: ReadonlySet<string>) {
    this.#globals = globals;
  }

  root(node: OperationNode): void {
    if (isQuery(node)) this.#query(node, new Scope());
    else if (RawNode.is(node)) this.#raw(node, new Scope(), 'statement');
    else this.#refuse(node.kind, `${node.kind} is not for tenants: run it on the unscoped database.`);
  }

  #query(node: Query, parent: Scope): Output {
    const known = parent.outputs.get(node);
    if (known) return known;
    const ctes = new Scope(parent);
    if (node.with) this.#ctes(node.with, ctes);
    const output = this.#statement(node, ctes);
    parent.outputs.set(node, output);
    return output;
  }

  #statement(node: Query, ctes: Scope): Output {
    if (SelectQueryNode.is(node)) return this.#select(node, ctes);
    if (InsertQueryNode.is(node)) return this.#insert(node, ctes);
    if (UpdateQueryNode.is(node)) return this.#update(node, ctes);
    return this.#delete(node, ctes);
  }

  #ctes({ expressions, recursive }: WithNode, scope: Scope): void {
    for (const { name, expression } of expressions) {
      const cte = fold(identifierOf(name.table));
      const position = name.columns?.findIndex(isWorkspaceId) ?? -1;
      const fact = (output: Output): Fact =>
        name.columns ? columnFact(output, position, this.axiom) : workspaceColumnFact(output, this.axiom);
      // By induction, its rows are bound in the recursive branch if they are in the first one.
      const itself = anyOf();
      if (recursive) scope.ctes.set(cte, itself);
      const output = this.#output(expression, scope);
      imply(fact(output.slice(0, 1)), itself);
      scope.ctes.set(cte, fact(output));
    }
  }

  #select(node: SelectQueryNode, ctes: Scope): Output {
    const scope = new Scope(ctes);
    this.#sources(scope, node.from?.froms, node.joins);
    this.#condition(node.where?.where, scope);
    const { kind: _, with: _with, from: _from, joins: _joins, where: _where, setOperations, ...rest } = node;
    this.#visit(Object.values(rest), scope);
    const below = setOperations?.flatMap(({ expression }) => this.#output(expression, ctes)) ?? [];
    return [{ selections: node.selections ?? [], scope }, ...below];
  }

  #update(node: UpdateQueryNode, ctes: Scope): Output {
    const scope = new Scope(ctes);
    for (const target of itemsOf(node.table)) this.#source(target, scope, 'target');
    this.#sources(scope, node.from?.froms, node.joins);
    this.#condition(node.where?.where, scope);
    this.#updates(node.updates, scope);
    this.#visit([node.returning, node.orderBy, node.limit, node.endModifiers], scope);
    return [{ selections: node.returning?.selections ?? [], scope }];
  }

  #delete(node: DeleteQueryNode, ctes: Scope): Output {
    const scope = new Scope(ctes);
    for (const target of node.from.froms) this.#source(target, scope, 'target');
    this.#sources(scope, node.using?.tables, node.joins);
    this.#condition(node.where?.where, scope);
    this.#visit([node.returning, node.orderBy, node.limit, node.endModifiers], scope);
    return [{ selections: node.returning?.selections ?? [], scope }];
  }

  #insert(node: InsertQueryNode, ctes: Scope): Output {
    const scope = new Scope(ctes);
    const target = tableOf(node.into);
    const written = this.#source(node.into ?? target, scope, 'inserted');
    this.#visit(node.values, ctes);
    imply(this.#insertedFact(node, ctes), written);
    if (node.onConflict) this.#onConflict(node.onConflict, scope, written, identifierOf(target));
    if (node.onDuplicateKey) this.#refuse('', 'on duplicate key is not SQL of PostgreSQL.');
    this.#visit([node.returning, node.endModifiers], scope);
    return [{ selections: node.returning?.selections ?? [], scope }];
  }

  #insertedFact({ columns, values }: InsertQueryNode, scope: Scope): Fact {
    const position = columns?.findIndex(isWorkspaceId) ?? -1;
    if (position < 0 || !values) return anyOf();
    if (!ValuesNode.is(values)) return columnFact(this.#output(values, scope), position, this.axiom);
    return allOf(
      values.values.map((row) => {
        if (PrimitiveValueListNode.is(row)) return this.axiom;
        const value = row.values[position];
        return (value && workspaceFact(value, scope, this.axiom)) ?? anyOf();
      }),
    );
  }

  #onConflict(node: OnConflictNode, target: Scope, written: Fact, table: string): void {
    const scope = new Scope(target.parent);
    for (const [alias, fact] of target.sources) scope.sources.set(alias, fact);
    scope.sources.set('excluded', written);
    const { updates, columns, constraint } = node;
    if (updates && !constraint && !columns?.some(isWorkspaceId) && !this.#globals.has(fold(table))) {
      this.#refuse(
        table,
        `On conflict of "${table}" do update: name workspaceId among the conflicting columns.`,
      );
    }
    this.#updates(updates, scope);
    this.#visit([node.indexExpression, node.indexWhere, node.updateWhere], scope);
  }

  /** Refuses to move a row to another workspace; `set workspaceId = excluded.workspaceId` moves nothing. */
  #updates(updates: readonly ColumnUpdateNode[] | undefined, scope: Scope): void {
    for (const { column, value } of updates ?? []) {
      this.#visit(value, scope);
      const target = ReferenceNode.is(column) ? column.column : column;
      if (!isWorkspaceId(target)) continue;
      const same = ReferenceNode.is(value) && value.table && identifierOf(value.table) === 'excluded';
      if (!same) this.#refuse(WORKSPACE, 'An update sets workspaceId: a row never leaves its workspace.');
    }
  }

  #sources(scope: Scope, froms: readonly OperationNode[] = [], joins: readonly JoinNode[] = []): void {
    // All aliases come first: a lateral subquery and a condition may name any of them.
    const entered = [...froms, ...joins.map((join) => join.table)].map((node) => {
      return { node, fact: this.#source(node, scope) };
    });
    for (const { node, fact } of entered) this.#derived(node, fact, scope);
    for (const [index, { joinType, on }] of joins.entries()) {
      const fact = entered[froms.length + index]?.fact;
      if (!on || !fact) continue;
      this.#visit(on, scope);
      bindCondition(on.on, scope, this.axiom, filtersOf(joinType, fact));
    }
  }

  /** Adds a table, subquery or CTE to the scope, and demands that a tenant table is bound. */
  #source(node: OperationNode, scope: Scope, role: 'read' | 'target' | 'inserted' = 'read'): Fact {
    const table = tableOf(node);
    const alias = AliasNode.is(node) ? identifierOf(node.alias) : identifierOf(table);
    const fact = anyOf();
    if (scope.sources.has(fold(alias)))
      this.#refuse(alias, `Two references in one query are called "${alias}".`);
    scope.sources.set(fold(alias), fact);
    if (!TableNode.is(table)) return fact;
    const name = identifierOf(table);
    const cte = role === 'read' && !table.table.schema ? scope.cte(fold(name)) : undefined;
    if (cte) imply(cte, fact);
    else if (!this.#globals.has(fold(name))) this.#demand(fact, name, alias, role);
    return fact;
  }

  #derived(node: OperationNode, fact: Fact, scope: Scope): void {
    const inner = tableOf(node);
    if (TableNode.is(inner)) return;
    if (RawNode.is(inner)) this.#raw(inner, scope, 'table');
    else if (isQuery(inner)) imply(workspaceColumnFact(this.#query(inner, scope), this.axiom), fact);
    else this.#visit(inner, scope);
  }

  #condition(condition: OperationNode | undefined, scope: Scope): void {
    if (!condition) return;
    this.#visit(condition, scope);
    bindCondition(condition, scope, this.axiom, () => true);
  }

  /** The output of a query that is not part of an expression: a CTE, a branch of a union, an insert … select. */
  #output(node: OperationNode, scope: Scope): Output {
    if (ParensNode.is(node)) return this.#output(node.node, scope);
    if (isQuery(node)) return this.#query(node, scope);
    this.#visit(node, scope);
    const nothing: Branch = { selections: [], scope };
    return [nothing];
  }

  /** Reads the queries and raw fragments anywhere below a node. */
  #visit(node: unknown, scope: Scope): void {
    if (Array.isArray(node)) for (const item of node) this.#visit(item, scope);
    if (!isNode(node) || isLeaf(node)) return;
    if (isQuery(node)) this.#query(node, scope);
    else if (RawNode.is(node)) this.#raw(node, scope, 'expression');
    else if (MergeQueryNode.is(node)) this.root(node);
    else for (const child of Object.values(node)) this.#visit(child, scope);
  }

  #raw(node: RawNode, scope: Scope, role: 'statement' | 'table' | 'expression'): void {
    const { tables, leak } = readRaw(node, role === 'table');
    for (const table of tables) {
      if (!scope.cte(fold(table)) && !this.#globals.has(fold(table))) {
        this.#refuse(table, `Raw SQL names the table "${table}": use the query builder instead.`);
      }
    }
    if (leak && role !== 'statement') {
      this.#refuse(
        RAW,
        `Raw SQL has an open ${leak}, which may undo its neighbours: close it in parentheses.`,
      );
    }
    this.#rawParameters(node, scope);
  }

  #rawParameters(node: RawNode, scope: Scope): void {
    for (const parameter of node.parameters) {
      if (RawNode.is(parameter)) this.#rawParameters(parameter, scope);
      else if (!TableNode.is(parameter)) this.#visit(parameter, scope);
      else if (!scope.source(fold(identifierOf(parameter)))) {
        const table = identifierOf(parameter);
        this.#refuse(table, `Raw SQL names the table "${table}": use the query builder instead.`);
      }
    }
  }

  #demand(fact: Fact, table: string, alias: string, role: 'read' | 'target' | 'inserted'): void {
    const called = alias === table ? `"${table}"` : `"${table}" as "${alias}"`;
    const remedy =
      role === 'inserted'
        ? () => `The insert into ${called} is not bound: give workspaceId a value in each row.`
        : () =>
            `The reference to ${called} is not bound: add .where('${alias}.workspaceId', '=', workspaceId).`;
    this.demands.push({ fact, table, remedy });
  }

  #refuse(table: string, reason: string): void {
    this.demands.push({ fact: anyOf(), table, remedy: () => reason });
  }
}

const WORKSPACE = 'workspaceId';
const RAW = 'sql';
