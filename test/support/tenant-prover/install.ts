import type { PluginTransformQueryArgs, RootOperationNode } from 'kysely';
import { TenantPlugin } from '../../../src/db/guard/tenant-plugin.ts';
import { type TenantStatement, violationsOf } from './rules.ts';

// Importing this module has the rules check every statement that this process sends through the handle of a workspace,
// before the statement is compiled. A statement that breaks a rule is not sent.

/** A statement that breaks a rule. A suite fails when a log contains this name, see `startApp`. */
export class TenantProofError extends Error {
  override readonly name = 'TenantProofError';
}

const listeners = new Set<(statement: TenantStatement) => void>();

/** Calls the listener with each statement that keeps the rules, until the returned function is called. */
export function onStatement(listener: (statement: TenantStatement) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const prototype: {
  transformQuery: (this: TenantPlugin, args: PluginTransformQueryArgs) => RootOperationNode;
} = TenantPlugin.prototype;
const { transformQuery } = prototype;

prototype.transformQuery = function (this: TenantPlugin, args) {
  const statement = { node: transformQuery.call(this, args), workspace: this.workspace };
  const violations = violationsOf(statement);
  if (violations.length > 0) throw new TenantProofError(violations.join('\n'));
  for (const listener of listeners) listener(statement);
  return statement.node;
};
