import { limits } from '../../model/limits.ts';
import type { StatsFlowQuery, StatsQuery, StatsTrendQuery } from '../operations.generated.ts';
import { code, date, id, integer, name, nullable, type Shape, shape, text } from '../shape.ts';

type Group = StatsQuery['issueStats'][number];
type TrendPeriod = StatsTrendQuery['issueTrend']['periods'][number];
type FlowPeriod = StatsFlowQuery['issueFlow']['periods'][number];

/** The values that the issues of a group share; null if they were not grouped by the field. */
const group = {
  statusId: nullable(id('status', 'status.id')),
  statusName: nullable(text(limits.name, 'status.name')),
  statusCategory: nullable(name('StatusCategory', 'statusCategory')),
  teamId: nullable(id('team', 'team.id')),
  teamCode: nullable(text(limits.name, 'team.code')),
  projectId: nullable(id('project', 'project.id')),
  projectKey: nullable(text(limits.projectKey, 'project.key')),
  deliveryId: nullable(id('delivery', 'delivery.id')),
  deliveryName: nullable(text(limits.name, 'delivery.name')),
  assigneeUserAccountId: nullable(id('user', 'assignee.userAccountId')),
  assigneeDisplayName: nullable(text(limits.name, 'assignee.displayName')),
  priority: nullable(code('Priority', 'priority')),
  labelId: nullable(id('label', 'label.id')),
  labelName: nullable(text(limits.name, 'label.name')),
} as const;

/** A group of issues with their number. */
export const issueGroup: Shape<Group> = shape('IssueGroup', {
  ...group,
  count: integer('count'),
  estimateSum: integer('estimateSum'),
});

const seconds = { description: 'In seconds; null where no issue was counted.' };

/** What happened to the issues of a group in a period. */
export const issueTrendPeriod: Shape<TrendPeriod> = shape('IssueTrendPeriod', {
  startsOn: date('startsOn'),
  endsOn: date('endsOn'),
  ...group,
  created: integer('created'),
  started: integer('started'),
  closed: integer('closed'),
  createdEstimate: integer('createdEstimate'),
  startedEstimate: integer('startedEstimate'),
  closedEstimate: integer('closedEstimate'),
  cycleTimeMedian: nullable(integer('cycleTime.median', seconds)),
  cycleTimeP85: nullable(integer('cycleTime.p85', seconds)),
  cycleTimeP95: nullable(integer('cycleTime.p95', seconds)),
  leadTimeMedian: nullable(integer('leadTime.median', seconds)),
  leadTimeP85: nullable(integer('leadTime.p85', seconds)),
  leadTimeP95: nullable(integer('leadTime.p95', seconds)),
});

/** How many issues there were in each category at the end of a period. */
export const issueFlowPeriod: Shape<FlowPeriod> = shape('IssueFlowPeriod', {
  startsOn: date('startsOn'),
  endsOn: date('endsOn'),
  backlog: integer('backlog'),
  open: integer('open'),
  active: integer('active'),
  completed: integer('completed'),
  canceled: integer('canceled'),
});
