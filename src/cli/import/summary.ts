import type { ImportSummary } from '../../portability/import/import-run.ts';

/** What an import did, in words. */
export function importWords(summary: ImportSummary, seconds: number): string[] {
  const { created, updated, unchanged, deletedHere, tombstones, otherRecords, refused } = summary;
  const parts = [
    `${created} created`,
    `${updated} updated`,
    `${unchanged} unchanged`,
    ...(deletedHere > 0 ? [`${deletedHere} deleted here since and left so`] : []),
  ];
  const made = some([
    [summary.comments, 'comments'],
    [summary.labels, 'labels'],
    [summary.members, 'invited guests'],
    [summary.parents, 'parents set'],
  ]);
  const left = some([
    [refused, 'lines refused'],
    [tombstones, 'tombstones left out'],
    [otherRecords, 'records that are no issues'],
    [summary.parentsMissing, 'parents missing'],
    [summary.warnings, 'warnings'],
  ]);
  const kept = some([
    [summary.relationsKept, 'other relations'],
    [summary.fieldsKept, 'other fields'],
  ]);
  return [
    ...(summary.isStopped ? ['Stopped. What was imported is whole; run it again to go on.'] : []),
    `${summary.issues} issues in ${seconds} s: ${parts.join(', ')}`,
    ...(made ? [`with them: ${made}`] : []),
    ...(left ? [`left out: ${left}`] : []),
    ...(kept ? [`kept with the source record: ${kept}`] : []),
  ];
}

function some(counts: readonly (readonly [number, string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}
