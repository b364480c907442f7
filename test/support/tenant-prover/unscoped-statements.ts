import { tenantTables } from '../../../src/db/tables/tenant-tables.ts';

/** Statements of a module over tables of workspaces, without the handle of a workspace. */
interface UnscopedStatements {
  readonly tables: readonly string[];
  /** Whether they may lock rows, which a distributed database does in one workspace at a time. */
  readonly locks?: true;
  readonly reason: string;
}

const all = Object.keys(tenantTables);

/** The modules that may send such statements. All others use the handle of a workspace. */
export const unscopedStatements: Readonly<Record<string, UnscopedStatements>> = {
  'src/db/access-tokens.ts': {
    tables: ['tokenRoute', 'accessToken'],
    reason:
      'A token is looked up to learn its workspace, by its hash in the routes or by its id for the operator.',
  },
  'src/db/attachments.ts': {
    tables: ['attachment'],
    reason: 'verify --files reads the files of all workspaces, page by page.',
  },
  'src/db/backup/catalog.ts': {
    tables: all,
    reason: 'A restore asks whether any table has rows.',
  },
  'src/db/backup/rows.ts': {
    tables: all,
    reason:
      'A backup has the rows of all workspaces, and is not of one moment where the database is distributed.',
  },
  'src/db/changes.ts': {
    tables: ['changeHead', 'changeInbox', 'change'],
    reason: 'The sequencer, streams and the janitor ask which workspaces have something to do.',
  },
  'src/db/housekeeping.ts': {
    tables: [
      'attachment',
      'issue',
      'issueLabel',
      'issueAssignee',
      'issueText',
      'issueStage',
      'referenceChange',
      'workspaceVersion',
    ],
    locks: true,
    reason:
      'The janitor looks for its work in all workspaces. Its writes name one in each part, or remove rows without waiting.',
  },
  'src/db/idempotency.ts': {
    tables: ['idempotencyKey'],
    locks: true,
    reason: 'The janitor removes old keys, for which no request waits.',
  },
  'src/db/issue-tallies.ts': {
    tables: ['issue', 'issueLabel', 'issueTally'],
    reason:
      'A recount fills a temporary table, which has no workspace. Each part names the one that is counted.',
  },
  'src/db/reads/reference-reads.ts': {
    tables: ['workspaceVersion'],
    reason: 'One statement asks for the versions of all workspaces that wait for theirs.',
  },
  'src/db/verify/check.ts': {
    tables: all,
    reason:
      'Each rule is a text, whose tables are replaced by CTEs of one workspace, or is about rows without one.',
  },
  'src/db/verify/cycles.ts': {
    tables: ['issue'],
    reason: 'A rule that reads more than one statement, each of one workspace.',
  },
  'src/db/verify/fold-rules.ts': {
    tables: all,
    reason: 'A rule for each folded column of the catalog, which reads slices of one workspace or of all.',
  },
  'src/db/webhook-secrets.ts': {
    tables: ['webhook'],
    reason:
      'The janitor asks which webhooks of any workspace have secrets under keys that are to be taken out.',
  },
  'src/db/webhook-work.ts': {
    tables: ['webhook', 'changeHead', 'webhookDelivery'],
    reason: 'A process asks which webhooks of any workspace have something to send.',
  },
  'src/db/webhooks.ts': {
    tables: ['webhook', 'webhookDelivery'],
    reason: 'The janitor asks which workspaces have old deliveries.',
  },
  'src/db/workspaces.ts': {
    tables: ['workspace'],
    reason: 'Commands and the janitor ask for the list of workspaces.',
  },
};
