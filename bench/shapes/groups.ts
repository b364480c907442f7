import { readBounds } from '../../src/db/query/read-bounds.ts';
import type { Gate } from './gate.ts';
import type { JudgedRead } from './judge.ts';
import { enumValues } from './schema-facts.ts';

/** The groupings of `issueStats`: none, each alone, and all pairs. */
export function groupings(): string[][] {
  const all = enumValues('IssueStatsGroup');
  const pairs = all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other]));
  return [[], ...all.map((one) => [one]), ...pairs];
}

/**
 * Judges one grouping of all issues: its counts must add up; with labels, an issue counts more than once. Its statement is not
 * explained, because a resolver sends it; what it took is the time of the whole operation.
 */
export async function checkGrouping(
  gate: Gate,
  groupBy: readonly string[],
  { issues, budget }: { issues: number; budget: number },
): Promise<JudgedRead> {
  const document = `query ($groupBy: [IssueStatsGroup!]!) { issueStats(groupBy: $groupBy) { count } }`;
  const began = performance.now();
  const groups = await gate.execute(document, { groupBy }, { isGeneric: false }).then(
    ({ data }) => data['issueStats'] as readonly { count: number }[],
    (error: unknown) => requireExpectedRefusal(error, issues > readBounds(budget).statistics),
  );
  const ms = performance.now() - began;
  const sum = groups.reduce((total, { count }) => total + count, 0);
  const isCut = groups.length === 1_000;
  const isWrong = groups !== tooMany && !groupBy.includes('LABEL') && !isCut && sum !== issues;
  return {
    name: `issueStats by ${groupBy.join(' and ') || 'nothing'}`,
    statements: 1,
    heapRows: 0,
    buffers: 0,
    ms,
    isShort: false,
    problems: isWrong ? [`${sum} of ${issues} issues`] : [],
  };
}

const tooMany: readonly { count: number }[] = [];

/** Groups that no tallies have may be refused where there are more issues than statistics may read. */
function requireExpectedRefusal(error: unknown, isExpected: boolean): typeof tooMany {
  if (isExpected && error instanceof Error && error.message.includes('counted issue by issue'))
    return tooMany;
  throw error;
}
