import { limits } from '../../model/limits.ts';
import type { ChangeFieldsFragment, ChangePageFieldsFragment } from '../operations.generated.ts';
import { boolean, id, name, nullable, objects, type Shape, shape, text, texts, timestamp } from '../shape.ts';
import { maxKeyLength } from '../values.ts';

/** The maximum length of a previous value in the log: that of a list of ids. */
const maxValueLength = 10_000;

const previousValue: Shape<ChangeFieldsFragment['previous'][number]> = shape('PreviousValue', {
  field: text(limits.name, 'field'),
  value: nullable(text(maxValueLength, 'value')),
});

/** An entry of the log of changes. */
export const change: Shape<ChangeFieldsFragment> = shape('Change', {
  id: id('change', 'id'),
  cursor: text(limits.changeCursor, 'cursor'),
  position: text(limits.changeCursor, 'position', {
    description: 'Its number in the log of the workspace, from 1 without gaps, in decimal digits.',
  }),
  eventType: text(limits.eventType, 'eventType'),
  occurredUtc: timestamp('occurredUtc'),
  origin: name('ChangeOrigin', 'origin'),
  requestId: nullable(
    text(limits.requestId, 'requestId', { description: 'The `X-Request-Id` of the request that made it.' }),
  ),
  actorUserAccountId: nullable(id('user', 'actorUserAccountId')),
  subjectId: text(limits.name, 'subjectId', { description: 'The id of the object that it is about.' }),
  teamId: nullable(id('team', 'teamId')),
  issueId: nullable(id('issue', 'issueId')),
  issueKey: nullable(text(maxKeyLength, 'issue.key', { description: 'Null also if the issue was deleted.' })),
  fields: texts({ maxItems: limits.changedFields, maxLength: limits.name }, 'fields'),
  previous: objects(previousValue, limits.changedFields, 'previous'),
});

/** Changes after a cursor, oldest first. */
export const changePage: Shape<ChangePageFieldsFragment> = shape('ChangePage', {
  results: objects(change, limits.pageSize, 'nodes'),
  cursor: text(limits.changeCursor, 'cursor', {
    description: 'The cursor to continue from; it is set even if there are no results.',
  }),
  hasMore: boolean('hasMore', {
    description:
      'Whether the log has entries after the cursor. It is not known yet whether any of them match.',
  }),
});
