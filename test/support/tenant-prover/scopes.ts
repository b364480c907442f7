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
import { fold, identifierOf } from '../../../src/db/guard/identifiers.ts';

/** The column that says whose a row is, as `fold` spells it. */
export const WORKSPACE_ID = 'workspaceid';

/** What a query can name: tables, sub-queries and CTEs by alias, and the CTEs that it may read. */
export class Scope {
  readonly parent: Scope | undefined;
  /** Of each alias the fact that its workspaceId is that of one bound workspace. */
  readonly sources = new Map<string, Fact>();
  readonly ctes = new Map<string, Fact>();
  /** Queries read in this scope: the same node may stand in two scopes and mean two things. */
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

  /** What an unqualified column belongs to: certain only in a query of one source. */
  sole(): Fact | undefined {
    if (this.sources.size === 0) return this.parent?.sole();
    return this.sources.size === 1 ? this.sources.values().next().value : undefined;
  }

  owns(wanted: Fact): boolean {
    return [...this.sources.values()].includes(wanted);
  }
}

/** A select list, or what a write returns, with the scope that its expressions live in. */
export interface Branch {
  readonly selections: readonly SelectionNode[];
  readonly scope: Scope;
}

/** What a query gives out: the branches that a union puts below each other, else one. */
export type Output = readonly Branch[];

/** The fact that the column at this position is a bound workspace in every row. */
export function columnFact(output: Output, position: number, given: Fact): Fact {
  return allOf(output.map((branch) => expressionAt(branch, position, given)));
}

/** The fact that the column called workspaceId is a bound workspace in every row. */
export function workspaceColumnFact(output: Output, given: Fact): Fact {
  const position = output[0]?.selections.findIndex((it) => outputName(it) === WORKSPACE_ID) ?? -1;
  if (position >= 0) return columnFact(output, position, given);
  // Below each other, stars line up only when they stand alone.
  if (output.length > 1 && output.some((branch) => branch.selections.length !== 1)) return anyOf();
  return allOf(output.map(starFact));
}

/** The fact that the value of an expression is a bound workspace; undefined where that cannot be said. */
export function workspaceFact(node: OperationNode, scope: Scope, given: Fact): Fact | undefined {
  if (ValueNode.is(node)) return given;
  if (CastNode.is(node)) return workspaceFact(node.expression, scope, given);
  if (ParensNode.is(node)) return workspaceFact(node.node, scope, given);
  if (RawNode.is(node)) return castFact(node, scope, given);
  if (ReferenceNode.is(node)) {
    if (!isWorkspaceId(node.column)) return undefined;
    return node.table ? scope.source(fold(identifierOf(node.table))) : scope.sole();
  }
  if (ColumnNode.is(node)) return isWorkspaceId(node) ? scope.sole() : undefined;
  const subquery = scope.outputs.get(node);
  return subquery && columnFact(subquery, 0, given);
}

export function isWorkspaceId(column: OperationNode): boolean {
  return ColumnNode.is(column) && fold(identifierOf(column)) === WORKSPACE_ID;
}

/** One expression with at most a cast behind it: sql`${workspaceId}::uuid`. */
function castFact(node: RawNode, scope: Scope, given: Fact): Fact | undefined {
  const [before, after, more] = node.sqlFragments;
  const [inner] = node.parameters;
  if (more !== undefined || !inner || before?.trim()) return undefined;
  return /^\s*(?:::\s*\w+\s*)?$/.test(after ?? '') ? workspaceFact(inner, scope, given) : undefined;
}

function expressionAt({ selections, scope }: Branch, position: number, given: Fact): Fact {
  // A star is of unknown width: nothing behind it has a known position.
  if (selections.slice(0, position + 1).some(isStar)) return anyOf();
  const selected = selections[position]?.selection;
  if (!selected) return anyOf();
  return workspaceFact(AliasNode.is(selected) ? selected.node : selected, scope, given) ?? anyOf();
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
