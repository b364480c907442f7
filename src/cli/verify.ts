import { encodeId } from '../resolvers/ids.ts';
import { verifyDatabase, type Finding } from '../portability/verify.ts';
import { verifyFiles } from '../portability/verify-files.ts';
import { databaseCommand } from './environment.ts';
import { exitCodes } from './failures.ts';

export const command = databaseCommand({
  name: 'verify',
  description:
    'Hold every rule against the rows: counters, numbers, feeds, references; a database in use may be read',
  unhurried: true,
  args: {
    files: { type: 'boolean', description: 'Ask the store for the bytes of every attachment, too' },
    limit: { type: 'string', description: 'How many rows to tell of one rule', default: '20' },
    json: { type: 'boolean', description: 'Print one object: rules, findings' },
  },
  async run({ database, store, signal, stdout, stderr }, { files, limit: wanted, json }) {
    const limit = Math.max(1, Number.parseInt(wanted, 10) || 20);
    const { rules, findings } = await verifyDatabase(database, { signal, limit });
    const ofFiles = files ? await verifyFiles(database, store, { signal, limit }) : undefined;
    const all = ofFiles ? [...findings, ofFiles] : findings;
    const asked = rules + (files ? 1 : 0);
    if (json) stdout(`${JSON.stringify({ rules: asked, findings: all.map(jsonOf) })}\n`);
    else for (const finding of all) stdout(wordsOf(finding));
    stderr(`${asked} rules: ${all.length === 0 ? 'all hold' : `${all.length} broken`}\n`);
    return all.length === 0 ? exitCodes.done : exitCodes.failed;
  },
});

function jsonOf({ rows, ...finding }: Finding) {
  return {
    ...finding,
    rows: rows.map(({ workspaceId, ...row }) => ({
      workspaceId: workspaceId && encodeId('workspace', workspaceId),
      ...row,
    })),
  };
}

function wordsOf({ rule, total, rows }: Finding): string {
  const more = total > rows.length ? [`  … and ${total - rows.length} more`] : [];
  const told = rows.map(({ key, detail }) => `  ${key}: ${detail}`);
  return `${[`BROKEN: ${rule} (${total})`, ...told, ...more].join('\n')}\n`;
}
