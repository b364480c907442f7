import { selectMiscounted } from '../../db/writes/import-writes.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import { changeIssues } from '../../db/writes/issue-change.ts';

/** Corrects the counts of locked issues, and the times of their newest comments. */
export async function recountIssues(trx: Trx, ids: readonly string[]): Promise<void> {
  const miscounted = await selectMiscounted(trx, ids);
  await changeIssues(
    transactionTarget(trx),
    {
      kind: 'columns',
      named: 'id',
      columns: ['commentCount', 'lastCommentUtc', 'subIssueCount', 'linkCount'],
      deleted: true,
      wait: true,
    },
    miscounted.map(({ id, ...set }) => ({ issue: { id }, set })),
  );
}
