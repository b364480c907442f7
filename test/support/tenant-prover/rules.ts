import type { OperationNode, RootOperationNode } from 'kysely';
import type { ValueOrSlot } from '../../../src/db/statements/slots.ts';
import { unboundIn } from './bound-rule.ts';
import { withoutConstant } from './constant-rule.ts';
import { changingInReturning, changingInUpdates, lockingCtes } from './distribution-rules.ts';
import { nodesIn } from './nodes.ts';
import { workspacesIn } from './one-workspace-rule.ts';

/** A statement that a handle sends, after the tenant plugin has changed it. */
export interface TenantStatement {
  readonly node: RootOperationNode;
  /** The workspace of the handle; a slot if the statement is prepared for any workspace. */
  readonly workspace: ValueOrSlot<string>;
}

/** A rule that every statement of a workspace's handle must keep. */
export interface Rule {
  readonly name: string;
  /** The violations of the statement; empty when it keeps the rule. `nodes` are all nodes of the statement. */
  readonly check: (statement: TenantStatement, nodes: readonly OperationNode[]) => readonly string[];
}

/** Every statement that the suites send is checked by each of these. A new rule goes at the end of the list. */
export const rules: readonly Rule[] = [
  {
    name: 'each reference to a tenant table is bound to one workspace',
    check: ({ node }) => unboundIn(node).map(({ message }) => message),
  },
  {
    name: 'the workspace in a statement is that of its handle',
    check: ({ workspace }, nodes) =>
      [...workspacesIn(nodes)].some((found) => found !== workspace)
        ? ['The statement contains a workspace that is not that of its handle.']
        : [],
  },
  {
    name: 'a returning clause has only immutable expressions',
    check: (_, nodes) => changingInReturning(nodes),
  },
  {
    name: 'a CTE that locks rows does so in a subquery',
    check: (_, nodes) => lockingCtes(nodes),
  },
  {
    name: 'the workspace of each reference to a tenant table is compared with a value',
    check: ({ node }) => withoutConstant(node),
  },
  {
    name: 'an update sets no clock and no random value',
    check: (_, nodes) => changingInUpdates(nodes),
  },
];

/** The violations of a statement, each with the name of its rule. */
export function violationsOf(statement: TenantStatement): string[] {
  const nodes = nodesIn(statement.node);
  return rules.flatMap(({ name, check }) =>
    check(statement, nodes).map((violation) => `${name}: ${violation}`),
  );
}
