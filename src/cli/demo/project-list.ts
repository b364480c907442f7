import type { PersonKey } from './people.ts';
import { endedProjects } from './projects-ended.ts';
import { runningProjects } from './projects-running.ts';
import type { TeamCode } from './team-list.ts';

export interface ProjectFacts {
  readonly key: string;
  readonly name: string;
  readonly team: TeamCode;
  readonly status: 'Idea' | 'Planned' | 'In Progress' | 'At Risk' | 'Paused' | 'Completed' | 'Canceled';
  readonly lead?: PersonKey;
  readonly priority: 'none' | 'urgent' | 'high' | 'medium' | 'low';
  readonly summary: string;
  readonly iconCss: string;
  /** Days from today; negative ones lie in the past. A project that has ended ended on its target. */
  readonly start?: number;
  readonly target?: number;
  readonly labels?: readonly string[];
  readonly links?: readonly [title: string, path: string][];
}

/** The projects, of every state. */
export const projectList: readonly ProjectFacts[] = [...runningProjects, ...endedProjects];
