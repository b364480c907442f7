import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultQueryExecutor, type PluginTransformQueryArgs, type RootOperationNode } from 'kysely';
import { TenantPlugin } from '../../../src/db/guard/tenant-plugin.ts';
import { type TenantStatement, violationsOf } from './rules.ts';
import { unscopedViolations } from './unscoped-rule.ts';

// Importing this module has the rules check every statement that this process sends through the handle of a workspace,
// before the statement is compiled. A statement that breaks a rule is not sent. A statement without such a handle is checked if a
// module of src compiles it: tests may look at all workspaces.

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

const executor: Pick<DefaultQueryExecutor, 'compileQuery' | 'plugins'> = DefaultQueryExecutor.prototype;
const { compileQuery } = executor;

executor.compileQuery = function (this: DefaultQueryExecutor, node, queryId) {
  if (!this.plugins.some((plugin) => plugin instanceof TenantPlugin)) {
    const module = compilingModule();
    const violations = module === undefined ? [] : unscopedViolations(node, module);
    if (violations.length > 0) throw new TenantProofError(violations.join('\n'));
  }
  return compileQuery.call(this, node, queryId);
};

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** It compiles statements for the modules that make them. */
const passedOver = 'src/db/query/prepared.ts';
const frame = /(file:\/\/\S+):\d+:\d+\)?$/;

/** The module that has a statement compiled, if it is one of src, such as `src/db/workspaces.ts`. */
function compilingModule(): string | undefined {
  const { stack = '' } = new Error('Where am I?');
  for (const line of stack.split('\n')) {
    const [, url] = frame.exec(line) ?? [];
    if (url === undefined || url === import.meta.url || url.includes('/node_modules/')) continue;
    const module = relative(root, fileURLToPath(url));
    if (module !== passedOver) return module.startsWith('src/') ? module : undefined;
  }
  return undefined;
}
