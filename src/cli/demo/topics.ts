import type { TeamCode } from './team-list.ts';
import { closedTopics } from './topics-closed.ts';
import { operationsTopics } from './topics-operations.ts';
import { platformTopics } from './topics-platform.ts';
import { productTopics } from './topics-product.ts';

export type Kind = 'bug' | 'feature' | 'chore' | 'research' | 'request';

/** A large issue with its sub-issues, which may belong to other teams and have sub-issues of their own. */
export interface Family {
  readonly title: string;
  readonly team?: TeamCode;
  readonly children?: readonly Family[];
}

/** What a team writes issues about. A report's title is a subject and a fault. */
export interface Topics {
  readonly reports: { kind: 'bug' | 'request'; subjects: readonly string[]; faults: readonly string[] };
  readonly features: readonly string[];
  readonly chores: readonly string[];
  readonly research: readonly string[];
  readonly epics: readonly (Family & { project?: string; daysAgo: number; isDeleted?: true })[];
  /** Sentences that fit below any description. */
  readonly context: readonly string[];
}

/** The topics of every team. */
export const topics: Record<TeamCode, Topics> = {
  ...productTopics,
  ...platformTopics,
  ...operationsTopics,
  ...closedTopics,
};

/** Every title that the team's lists give, with its kind. */
export function titlesOf(code: TeamCode): { title: string; kind: Kind }[] {
  const { reports, features, chores, research } = topics[code];
  return [
    ...reports.subjects.flatMap((subject) =>
      reports.faults.map((fault) => ({ title: `${subject} ${fault}`, kind: reports.kind })),
    ),
    ...features.map((title) => ({ title, kind: 'feature' as const })),
    ...chores.map((title) => ({ title, kind: 'chore' as const })),
    ...research.map((title) => ({ title, kind: 'research' as const })),
  ];
}
