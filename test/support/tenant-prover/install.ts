import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import { DefaultQueryExecutor } from 'kysely';
import { TenantPlugin } from '../../../src/db/guard/tenant-plugin.ts';
import { type TenantStatement, violationsOf } from './rules.ts';
import { unscopedViolations } from './unscoped-rule.ts';

// After this module is imported, the rules check every statement that this process sends through the handle of a workspace,
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

const executor: Pick<DefaultQueryExecutor, 'compileQuery' | 'plugins'> = DefaultQueryExecutor.prototype;
const { compileQuery } = executor;

// Checked here and not in the plugin, which Kysely also calls for subqueries before it calls it for their statement.
executor.compileQuery = function (this: DefaultQueryExecutor, node, queryId) {
  const plugin = this.plugins.find((each) => each instanceof TenantPlugin);
  if (plugin) {
    const statement = { node, workspace: plugin.workspace };
    refuse(violationsOf(statement));
    for (const listener of listeners) listener(statement);
  } else {
    const module = compilingModule();
    if (module !== undefined) refuse(unscopedViolations(node, module));
  }
  return compileQuery.call(this, node, queryId);
};

function refuse(violations: readonly string[]): void {
  if (violations.length > 0) throw new TenantProofError(violations.join('\n'));
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** They compile statements for the modules that make them. */
const passedOver = new Set(['src/db/statements/prepared.ts', 'src/db/query/prepared-select.ts']);
/** Kysely itself has fewer frames between a module and this one. */
const frames = 30;

/** The module that has a statement compiled, if it is one of src, such as `src/db/workspaces.ts`. */
function compilingModule(): string | undefined {
  for (const { scriptName } of getCallSites(frames)) {
    if (
      !scriptName.startsWith('file:') ||
      scriptName === import.meta.url ||
      scriptName.includes('/node_modules/')
    )
      continue;
    const module = relative(root, fileURLToPath(scriptName));
    if (!passedOver.has(module)) return module.startsWith('src/') ? module : undefined;
  }
  return undefined;
}
