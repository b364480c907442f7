/**
 * Proof that a wrong declaration of a stored field of an issue, of a REST shape or of an activity does not compile. Nothing here
 * runs: `npm run typecheck` reads it, and fails on any `@ts-expect-error` below which there is no error.
 */
import { type OtherIssueColumns, otherIssueColumns, type StoredField } from '../../src/model/issue-fields.ts';
import type { Activity } from '../../src/resolvers/activity.ts';
import type { IssueTable } from '../../src/model/issue-table.ts';
import {
  id,
  integer,
  nullable,
  object,
  objects,
  type Shape,
  shape,
  text,
} from '../../src/rest-compat/shape.ts';

const description = 'Only the types matter here.';

// the columns and the stored fields of an issue
interface LongerTable extends IssueTable {
  undeclared: string | null;
}
// @ts-expect-error -- a column of the table that is neither a stored field nor declared beside the fields
export const missingColumn: OtherIssueColumns<LongerTable> = otherIssueColumns;
const texts = { activity: 'the estimate', description };
export const valid: StoredField<number | null, never> = {
  kind: 'integer',
  min: 0,
  max: 100,
  order: 'ESTIMATE',
  cleared: { to: null },
  ...texts,
};
export const wrongKind: StoredField<number, never> = {
  // @ts-expect-error -- a column of numbers has no dates
  kind: 'date',
  order: 'ESTIMATE',
  cleared: { to: 0 },
  ...texts,
};
export const neverNull: StoredField<number, never> = {
  kind: 'integer',
  min: 0,
  max: 100,
  // @ts-expect-error -- a column that is never null cannot be cleared to null
  cleared: { to: null },
  ...texts,
};

// The fields of a REST shape, by their paths in a fragment.
interface Fragment {
  key: string;
  number: number;
  parentId: string | null;
  team: { name: string };
  lead: { name: string } | null;
  labels: { id: string }[];
  revision: number;
}
const labelShape: Shape<{ id: string }> = shape('Label', { id: id('label', 'id') });
export const validShape: Shape<Fragment> = shape(
  'Sound',
  {
    key: text(10, 'key'),
    number: integer('number'),
    teamName: text(10, 'team.name'),
    parentId: nullable(id('issue', 'parentId')),
    parentOrEmpty: id('issue', 'parentId', { ifNull: '' }),
    leadName: text(10, 'lead.name', { ifNull: '' }),
    labels: objects(labelShape, 10, 'labels'),
  },
  'revision',
);
// @ts-expect-error -- no such field
export const absentPath: Shape<Fragment> = shape('Shape', { name: text(10, 'team.nmae') });
// @ts-expect-error -- a number is not a text
export const numberAsText: Shape<Fragment> = shape('Shape', { number: text(10, 'number') });
// @ts-expect-error -- the value may be null
export const silentNullValue: Shape<Fragment> = shape('Shape', { parentId: id('issue', 'parentId') });
// @ts-expect-error -- the object on the way may be null
export const silentNullInTheWay: Shape<Fragment> = shape('Shape', { leadName: text(10, 'lead.name') });
// @ts-expect-error -- a shape of other objects
export const otherObjects: Shape<Fragment> = shape('Shape', { team: object(labelShape, 'team') });
// @ts-expect-error -- a revision is a number
export const textAsRevision: Shape<Fragment> = shape('Shape', {}, 'key');

export const activities: Record<string, Activity> = {
  ofIssue: { eventType: 'issue-comment.updated.v1', activityText: 'edited a comment', subject: '' },
  // @ts-expect-error -- a change of the issue itself also raises its revision
  issueItself: { eventType: 'issue.updated.v1', activityText: 'changed the title', subject: '' },
};
