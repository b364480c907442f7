import type { TeamFacts } from '../facts.ts';
import type { Random } from '../random.ts';
import type { Input, Workload } from './workload.ts';

/** The fields of a new row that differ between contenders. */
export const newRow = ['id', 'key', 'createdUtc', 'updatedUtc'] as const;
/** The counts of a delivery, which change with each new issue. */
export const counts = ['issueCount', 'estimatedScope'] as const;

export const writes: readonly Workload[] = [
  {
    id: 'W4',
    title: 'issue create, spread over teams',
    input: (random, { writeTeams }) => issueIn(random, random.pick(writeTeams)),
    volatile: [...newRow, ...counts],
  },
  {
    id: 'W5',
    title: 'comment create, spread over issues',
    input: (random, { writeKeys }) => commentOn(random, random.pick(writeKeys)),
    volatile: newRow,
  },
];

export function issueIn(random: Random, team: TeamFacts): Input {
  return {
    teamId: team.id,
    title: `Written by the benchmark, number ${random.below(1_000_000)}`,
    description: `${sentence.repeat(4)}${random.below(1_000_000)}`,
    priority: random.pick(['NONE', 'URGENT', 'HIGH', 'MEDIUM', 'LOW']),
    projectId: random.pick(team.projectIds),
    deliveryId: random.pick(team.deliveryIds),
    estimateValue: random.below(8),
    primaryAssigneeUserAccountId: random.pick(team.memberUserAccountIds),
    labelIds: random.some(team.labelIds, 2),
  };
}

export function commentOn(random: Random, issueKey: string): Input {
  return { issueKey, body: `${sentence}${random.below(1_000_000)}` };
}

const sentence = 'It fails only behind the proxy, and only when two tabs are open at the same time. ';
