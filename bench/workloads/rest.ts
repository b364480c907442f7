import type { Facts } from '../facts.ts';
import type { Random } from '../random.ts';
import type { Input, Workload } from './workload.ts';
import { counts } from './writes.ts';

/**
 * What may differ between contenders after a change of an issue. An earlier checkout has a database of its own, in which those of
 * the other one have not commented.
 */
export const patchVolatile = ['updatedUtc', 'lastActivityUtc', 'commentCount', 'lastCommentUtc', ...counts];

export const rest: { readonly reads: readonly Workload[]; readonly writes: readonly Workload[] } = {
  reads: [
    {
      id: 'W6',
      title: 'REST: list of 100 comments of an issue',
      input: (random, { discussedKeys }) => ({ key: random.pick(discussedKeys) }),
      volatile: ['nextCursor'],
    },
    { id: 'W10', title: 'REST: GET /health', input: () => ({}) },
  ],
  writes: [
    {
      id: 'W7',
      title: 'REST: PATCH /v1/issues/{key}, spread over issues',
      input: (random, facts, values) => patchOf(values, facts, random.pick(facts.writeKeys)),
      volatile: patchVolatile,
    },
  ],
};

/** A new title, priority and status, which is one of the issue's team. */
export function patchOf(values: Random, { writeTeams }: Facts, key: string): Input {
  const team = writeTeams.find(({ code }) => key.startsWith(`${code}-`));
  return {
    key,
    body: {
      title: `Changed by the benchmark, number ${values.below(1_000_000)}`,
      priority: values.below(5),
      issueStatusId: values.pick(team?.openStatusIds ?? []),
    },
  };
}
