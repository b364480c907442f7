import type { Gate } from './gate.ts';
import type { Judged } from './judge.ts';
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
export async function checkGrouping(gate: Gate, groupBy: readonly string[], issues: number): Promise<Judged> {
  const document = `query ($groupBy: [IssueStatsGroup!]!) { issueStats(groupBy: $groupBy) { count } }`;
  const began = performance.now();
  const { data } = await gate.ask(document, { groupBy }, { isGeneric: false });
  const ms = performance.now() - began;
  const groups = data['issueStats'] as readonly { count: number }[];
  const sum = groups.reduce((total, { count }) => total + count, 0);
  const isCut = groups.length === 1_000;
  const isWrong = !groupBy.includes('LABEL') && !isCut && sum !== issues;
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
