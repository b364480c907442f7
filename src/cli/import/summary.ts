import type { ImportSummary } from '../../portability/import/import-run.ts';
import { pluralize } from '../pluralize.ts';

/** The lines that tell the user the result of an import. */
export function summaryLines(summary: ImportSummary, seconds: number): string[] {
  const { created, updated, unchanged, deletedHere, tombstones, otherRecords, refused } = summary;
  const parts = [
    `${created} created`,
    `${updated} updated`,
    `${unchanged} unchanged`,
    ...(deletedHere > 0 ? [`${deletedHere} deleted here and not imported again`] : []),
  ];
  const included = nonZero([
    pluralize(summary.comments, 'comment'),
    pluralize(summary.labels, 'label'),
    pluralize(summary.members, 'invited guest'),
    pluralize(summary.parents, 'parent set', 'parents set'),
  ]);
  const skipped = nonZero([
    pluralize(refused, 'line refused', 'lines refused'),
    pluralize(tombstones, 'tombstone skipped', 'tombstones skipped'),
    pluralize(otherRecords, 'record that is not an issue', 'records that are not issues'),
    pluralize(summary.parentsMissing, 'parent missing', 'parents missing'),
  ]);
  const stored = nonZero([
    pluralize(summary.relationsKept, 'other relation'),
    pluralize(summary.fieldsKept, 'other field'),
  ]);
  return [
    ...(summary.isStopped
      ? ['Stopped. The issues imported so far are complete; run the command again to continue.']
      : []),
    `${pluralize(summary.issues, 'issue')} in ${seconds} s: ${parts.join(', ')}`,
    ...(included ? [`including: ${included}`] : []),
    ...(skipped ? [`skipped: ${skipped}`] : []),
    ...(summary.warnings > 0 ? [pluralize(summary.warnings, 'warning')] : []),
    ...(stored ? [`stored with the source record: ${stored}`] : []),
  ];
}

/** The counts that are not zero. */
function nonZero(counts: readonly string[]): string {
  return counts.filter((text) => !text.startsWith('0 ')).join(', ');
}
