import type { ImportSummary } from '../../portability/import/import-run.ts';
import { counted } from '../counted.ts';

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
    counted(summary.comments, 'comment'),
    counted(summary.labels, 'label'),
    counted(summary.members, 'invited guest'),
    counted(summary.parents, 'parent set', 'parents set'),
  ]);
  const skipped = some([
    counted(refused, 'line refused', 'lines refused'),
    counted(tombstones, 'tombstone skipped', 'tombstones skipped'),
    counted(otherRecords, 'record that is not an issue', 'records that are not issues'),
    counted(summary.parentsMissing, 'parent missing', 'parents missing'),
    counted(summary.warnings, 'warning'),
  ]);
  const stored = some([
    counted(summary.relationsKept, 'other relation'),
    counted(summary.fieldsKept, 'other field'),
  ]);
  return [
    ...(summary.isStopped
      ? ['Stopped. The issues imported so far are complete; run the command again to continue.']
      : []),
    `${counted(summary.issues, 'issue')} in ${seconds} s: ${parts.join(', ')}`,
    ...(included ? [`including: ${included}`] : []),
    ...(skipped ? [`skipped: ${skipped}`] : []),
    ...(stored ? [`stored with the source record: ${stored}`] : []),
  ];
}

/** The counts that are not zero. */
function some(counts: readonly string[]): string {
  return counts.filter((text) => !text.startsWith('0 ')).join(', ');
}
