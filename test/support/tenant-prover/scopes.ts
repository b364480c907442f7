import {
  AliasNode,
  CastNode,
  ColumnNode,
  ParensNode,
  RawNode,
  ReferenceNode,
  SelectAllNode,
  ValueNode,
} from 'kysely';
import type { OperationNode, SelectionNode } from 'kysely';
import { allOf, anyOf } from './binding-graph.ts';
import type { Fact } from './binding-graph.ts';
import { identifierOf } from '../../../src/db/guard/identifiers.ts';
import { fold } from './names.ts';

/** The column that holds a row's workspace, as `fold` spells it. */
export const WORKSPACE_ID = 'workspaceid';

/** The names in a query: tables, subqueries and CTEs by alias, and the CTEs that it may read. */
export class Scope {
  readonly parent: Scope | undefined;
  /** For each alias the fact that its rows belong to one bound workspace. */
  readonly sources = new Map<string, Fact>();
  readonly ctes = new Map<string, Fact>();
  /** Queries read in this scope. The same node can occur in two scopes and mean two things. */
  readonly outputs = new Map<OperationNode, Output>();

  constructor(parent?: Scope) {
    this.parent = parent;
  }

  cte(name: string): Fact | undefined {
    return this.ctes.get(name) ?? this.parent?.cte(name);
  }

  source(alias: string): Fact | undefined {
    return this.sources.get(alias) ?? this.parent?.source(alias);
  }

  /** The source of an unqualified column, which is certain only in a query of one source. */
  sole(): Fact | undefined {
    if (this.sources.size === 0) return this.parent?.sole();
    return this.sources.size === 1 ? this.sources.values().next().value : undefined;
  }

  owns(wanted: Fact): boolean {
    return [...this.sources.values()].includes(wanted);
  }
}

/** A select list or a returning list, with the scope of its expressions. */
export interface Branch {
  readonly selections: readonly SelectionNode[];
  readonly scope: Scope;
}

/** The branches of a union, or the one branch of any other query. */
export type Output = readonly Branch[];

/** The fact that the column at this position is a bound workspace in every row. */
export function columnFact(output: Output, position: number, axiom: Fact): Fact {
  return allOf(output.map((branch) => expressionAt(branch, position, axiom)));
}

/** The fact that the column called workspaceId is a bound workspace in every row. */
export function workspaceColumnFact(output: Output, axiom: Fact): Fact {
  const position =
    output[0]?.selections.findIndex((selection) => outputName(selection) === WORKSPACE_ID) ?? -1;
  if (position >= 0) return columnFact(output, position, axiom);
  // In a union, stars have matching columns only when each is alone.
  if (output.length > 1 && output.some((branch) => branch.selections.length !== 1)) return anyOf();
  return allOf(output.map(starFact));
}

/** The fact that the value of an expression is a bound workspace; undefined if it is unknown. */
export function workspaceFact(node: OperationNode, scope: Scope, axiom: Fact): Fact | undefined {
  if (ValueNode.is(node)) return axiom;
  if (CastNode.is(node)) return workspaceFact(node.expression, scope, axiom);
  if (ParensNode.is(node)) return workspaceFact(node.node, scope, axiom);
  if (RawNode.is(node)) return castFact(node, scope, axiom);
  if (ReferenceNode.is(node)) {
    if (!isWorkspaceId(node.column)) return undefined;
    return node.table ? scope.source(fold(identifierOf(node.table))) : scope.sole();
  }
  if (ColumnNode.is(node)) return isWorkspaceId(node) ? scope.sole() : undefined;
  const subquery = scope.outputs.get(node);
  return subquery && columnFact(subquery, 0, axiom);
}

export function isWorkspaceId(column: OperationNode): boolean {
  return ColumnNode.is(column) && fold(identifierOf(column)) === WORKSPACE_ID;
}

/** An expression followed by at most a cast: sql`${workspaceId}::uuid`. */
function castFact(node: RawNode, scope: Scope, axiom: Fact): Fact | undefined {
  const [before, after, more] = node.sqlFragments;
  const [inner] = node.parameters;
  if (more !== undefined || !inner || before?.trim()) return undefined;
  return /^\s*(?:::\s*\w+\s*)?$/.test(after ?? '') ? workspaceFact(inner, scope, axiom) : undefined;
}

function expressionAt({ selections, scope }: Branch, position: number, axiom: Fact): Fact {
  // The width of a star is unknown, so no column after it has a known position.
  if (selections.slice(0, position + 1).some(isStar)) return anyOf();
  const selected = selections[position]?.selection;
  if (!selected) return anyOf();
  return workspaceFact(AliasNode.is(selected) ? selected.node : selected, scope, axiom) ?? anyOf();
}

function outputName({ selection }: SelectionNode): string {
  if (AliasNode.is(selection)) return fold(identifierOf(selection.alias));
  return fold(identifierOf(ReferenceNode.is(selection) ? selection.column : selection));
}

function isStar({ selection }: SelectionNode): boolean {
  return SelectAllNode.is(ReferenceNode.is(selection) ? selection.column : selection);
}

function starFact({ selections, scope }: Branch): Fact {
  const starred = selections.filter(isStar).flatMap(({ selection }) => {
    if (!ReferenceNode.is(selection) || !selection.table) return [...scope.sources.values()];
    return [scope.source(fold(identifierOf(selection.table))) ?? anyOf()];
  });
  return allOf(starred);
}
