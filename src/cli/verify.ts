import { encodeId } from '../resolvers/ids.ts';
import { verifyDatabase, type Finding } from '../portability/verify.ts';
import { verifyFiles } from '../portability/verify-files.ts';
import { pluralize } from './pluralize.ts';
import type { CommandEnvironment } from './environment.ts';
import { exitCodes, UsageError } from './failures.ts';
import { parseLimit } from './limit.ts';
import { findWorkspace } from './lookup.ts';
import { Progress } from './progress.ts';

interface VerifyArguments {
  readonly workspace?: string | undefined;
  readonly files?: boolean | undefined;
  /** The maximum number of rows to print for one rule. */
  readonly limit: string;
  readonly json?: boolean | undefined;
}

/** Checks the rules, and prints what breaks them. The exit code is 0 if all hold. */
export async function runVerify(
  env: CommandEnvironment,
  { workspace, files, limit: maxRows, json }: VerifyArguments,
): Promise<number> {
  const { database, store, signal, stdout, stderr } = env;
  if (files && workspace !== undefined)
    throw new UsageError('--files checks the files of all workspaces: leave out --workspace.');
  const limit = parseLimit(maxRows);
  const only = workspace === undefined ? undefined : await findWorkspace(database, workspace);
  let progress: Progress | undefined;
  let checkedRules = 0;
  const stopped = (error: unknown): never => {
    const checked = pluralize(checkedRules, 'rule');
    if (signal.aborted) stderr(`Stopped after ${checked}; run the command again to start over.\n`);
    throw error;
  };
  const { rules, findings } = await verifyDatabase(database, {
    signal,
    limit,
    workspaceId: only?.id,
    onRule: (rule, done, total) => {
      progress ??= new Progress(env, { total, unit: 'rule' });
      progress.update(done, { detail: rule });
      checkedRules = done;
    },
  })
    .finally(() => progress?.end())
    .catch(stopped);
  const fileFinding = files
    ? await verifyFiles(database, store, { signal, limit }).catch(stopped)
    : undefined;
  const allFindings = fileFinding ? [...findings, fileFinding] : findings;
  const checked = rules + (files ? 1 : 0);
  if (json) stdout(`${JSON.stringify({ rules: checked, findings: allFindings.map(jsonOf) })}\n`);
  else for (const finding of allFindings) stdout(formatFinding(finding));
  stderr(`${checked} rules: ${allFindings.length === 0 ? 'all hold' : `${allFindings.length} broken`}\n`);
  return allFindings.length === 0 ? exitCodes.done : exitCodes.failed;
}

function jsonOf({ rows, ...finding }: Finding) {
  return {
    ...finding,
    rows: rows.map(({ workspaceId, ...row }) => ({
      workspaceId: workspaceId && encodeId('workspace', workspaceId),
      ...row,
    })),
  };
}

function formatFinding({ rule, total, rows }: Finding): string {
  const omitted = total > rows.length ? [`  … and ${total - rows.length} more`] : [];
  const details = rows.map(({ key, detail }) => `  ${key}: ${detail}`);
  return `${[`BROKEN: ${rule} (${total})`, ...details, ...omitted].join('\n')}\n`;
}
