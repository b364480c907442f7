import type { Gate } from './gate.ts';
import { type JudgedRead, judgeReads } from './judge.ts';
import type { ListFacts } from './schema-facts.ts';
import type { NamedFilter } from './values.ts';

/** Judges the total of a root list with a filter. `matched` is how many rows match. */
export async function checkTotal(
  gate: Gate,
  { name, row }: ListFacts,
  { name: filterName, filter }: NamedFilter,
  { budget, matched }: { budget: number; matched: number },
): Promise<JudgedRead> {
  const document = `query ($filter: ${row}Filter) { list: ${name}(filter: $filter) { totalCount totalCountIsExact } }`;
  const { data, statements } = await gate.execute(
    document,
    { filter },
    { isGeneric: filterName.length % 2 === 1 },
  );
  const { totalCount, totalCountIsExact } = data['list'] as {
    totalCount: number;
    totalCountIsExact: boolean;
  };
  const reads = judgeReads(statements, { budget, parents: 1, size: 0 });
  const isWrong = totalCountIsExact ? totalCount !== matched : totalCount > matched;
  return {
    ...reads,
    name: `${name} ${filterName}, total`,
    isShort: !totalCountIsExact,
    isTotal: true,
    problems: [
      ...reads.problems,
      ...(isWrong ? [`${totalCountIsExact ? '' : 'at least '}${totalCount} of ${matched} rows`] : []),
    ],
  };
}
