import type { ImportSummary } from '../../portability/import/import-run.ts';

/** The lines that tell the user the result of an import. */
export function importWords(summary: ImportSummary, seconds: number): string[] {
  const { created, updated, unchanged, deletedHere, tombstones, otherRecords, refused } = summary;
  const parts = [
    `${created} created`,
    `${updated} updated`,
    `${unchanged} unchanged`,
    ...(deletedHere > 0 ? [`${deletedHere} deleted here and not imported again`] : []),
  ];
  const included = some([
    [summary.comments, 'comments'],
    [summary.labels, 'labels'],
    [summary.members, 'invited guests'],
    [summary.parents, 'parents set'],
  ]);
  const skipped = some([
    [refused, 'lines refused'],
    [tombstones, 'tombstones skipped'],
    [otherRecords, 'records that are not issues'],
    [summary.parentsMissing, 'parents missing'],
    [summary.warnings, 'warnings'],
  ]);
  const stored = some([
    [summary.relationsKept, 'other relations'],
    [summary.fieldsKept, 'other fields'],
  ]);
  return [
    ...(summary.isStopped
      ? ['Stopped. The issues imported so far are complete; run the command again to continue.']
      : []),
    `${summary.issues} issues in ${seconds} s: ${parts.join(', ')}`,
    ...(included ? [`including: ${included}`] : []),
    ...(skipped ? [`skipped: ${skipped}`] : []),
    ...(stored ? [`stored with the source record: ${stored}`] : []),
  ];
}

function some(counts: readonly (readonly [number, string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}`)
    .join(', ');
}
