import { burnupField } from './burnup.ts';
import { type Entity, entity } from './builder/entity.ts';
import { DeliveryState } from './builder/enums.ts';
import { coveredByPosition } from './builder/covered-by-position.ts';
import { Issue } from './issues.ts';
import { Team } from './teams.ts';

export const Delivery: Entity<'delivery'> = entity('Delivery', {
  table: 'delivery',
  prefix: 'delivery',
  singular: 'delivery',
  plural: 'deliveries',
  description: 'A period that a team plans in, such as a cycle or a sprint.',
  scope: 'token',
  orders: {
    STARTS_ON: { column: 'startsOn', kind: 'date', nullable: false },
    NUMBER: { column: 'number', kind: 'int', nullable: false },
    NAME: { column: 'nameFold', kind: 'text', nullable: false },
  },
  defaultOrder: { field: 'STARTS_ON', direction: 'asc' },
  filter: (f) => ({
    id: f.id('delivery'),
    name: f.text('nameFold'),
    number: f.int('number'),
    state: f.enum(DeliveryState, 'state'),
    startsOn: f.date('startsOn'),
    endsOn: f.date('endsOn'),
    teamId: f.id('team', 'teamId'),
  }),
});

/**
 * Today's date in UTC, since deliveries start and end at midnight UTC. All objects of an answer are compared with the
 * same time.
 */
function today(now: Date): string {
  if (last.now !== now) last = { now, date: now.toISOString().slice(0, 10) };
  return last.date;
}
let last = { now: new Date(0), date: '1970-01-01' };

Delivery.implement((t) => ({
  teamId: t.idOf('team', 'teamId', { description: 'The team that the delivery belongs to.' }),
  team: t.reference(Team, 'teamId', { description: 'The team that the delivery belongs to.' }),
  number: t.exposeInt('number', { description: 'The number of the delivery within its team.' }),
  name: t.exposeString('name', { description: 'The name of the delivery.' }),
  description: t.exposeString('description', {
    description: 'What the delivery is about; may be empty.',
  }),
  startsOn: t.expose('startsOn', { type: 'Date', description: 'The first day of the delivery, in UTC.' }),
  endsOn: t.expose('endsOn', { type: 'Date', description: 'The last day of the delivery, in UTC.' }),
  state: t.expose('state', { type: DeliveryState, description: 'The state of the delivery.' }),
  issueCount: t.sums('deliveryCount', {
    key: 'deliveryId',
    columns: ['issueCount'],
    compute: ({ issueCount }) => issueCount,
    description: 'The number of its issues that are not deleted.',
  }),
  closedIssueCount: t.sums('deliveryCount', {
    key: 'deliveryId',
    columns: ['closedIssueCount'],
    compute: ({ closedIssueCount }) => closedIssueCount,
    description: 'The number of its issues in a terminal status.',
  }),
  estimatedScope: t.sums('deliveryCount', {
    key: 'deliveryId',
    columns: ['estimatedScope'],
    compute: ({ estimatedScope }) => estimatedScope,
    description: 'The sum of the estimates of its issues.',
  }),
  closedEstimate: t.sums('deliveryCount', {
    key: 'deliveryId',
    columns: ['closedEstimate'],
    compute: ({ closedEstimate }) => closedEstimate,
    description: 'The sum of the estimates of its issues in a terminal status.',
  }),
  isCurrent: t.computedForViewer({
    type: 'Boolean',
    columns: ['startsOn', 'endsOn'],
    extensions: coveredByPosition,
    compute: ({ startsOn, endsOn }, _references, { now }) => startsOn <= today(now) && today(now) <= endsOn,
    description: 'Whether the delivery is running today, in UTC.',
  }),
  isUpcoming: t.computedForViewer({
    type: 'Boolean',
    columns: ['startsOn'],
    extensions: coveredByPosition,
    compute: ({ startsOn }, _references, { now }) => startsOn > today(now),
    description: 'Whether the delivery starts after today, in UTC.',
  }),
  burnup: burnupField(
    t,
    { column: 'deliveryId', countsCanceled: true },
    'How its scope and the completed part of it grew. Issues in a terminal status are done.',
  ),
  issues: t.children(Issue, {
    key: 'deliveryId',
    description: 'The issues that are planned for the delivery.',
  }),
}));
