import { beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { newTeam } from '../support/issue-world.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const teams = 20;
const numbers = 60;

// The issues are written past the service, so nothing but their rows is right.
const { app, world, ada } = useIssueWorld({
  ownDatabase: true,
  changesRows: true,
  settings: { READ_BUDGET: '10' },
});

describe('issues whose numbers are listed, of which other teams have many', () => {
  beforeAll(async () => {
    await ada.create({ teamId: world.eng.id, title: 'The first' });
    await Promise.all(
      Array.from({ length: teams }, (_, index) =>
        newTeam(app.database, app.workspaceId, `T${String.fromCharCode(65 + index)}`),
      ),
    );
    await sql`
      insert into issue (workspace_id, id, team_id, number, title, title_fold, reporter_user_account_id, status_id, status_rank,
        priority, created_utc, updated_utc)
      select i.workspace_id, gen_random_uuid(), s.team_id, n, i.title, i.title_fold, i.reporter_user_account_id, s.id, s.rank,
        i.priority, i.created_utc, i.updated_utc
      from issue i, generate_series(1, ${sql.lit(numbers)}) n, team t
      cross join lateral (select * from status where status.team_id = t.id order by rank limit 1) s
      where t.id <> i.team_id or n > 1`.execute(app.database.unscoped);
  });

  it('are shown page by page to the last', async () => {
    const query = `query ($team: ID!, $numbers: [Int!]!, $after: String) {
      issues(first: 25, after: $after, filter: { teamId: { eq: $team }, number: { in: $numbers } }) {
        nodes { number } pageInfo { hasNextPage endCursor } } }`;
    const found: number[] = [];
    let page: Page = { nodes: [], pageInfo: { hasNextPage: true, endCursor: null } };
    while (page.pageInfo.hasNextPage) {
      const variables = { team: world.eng.id, numbers: listed, after: page.pageInfo.endCursor };
      const { body } = await app.graphql<{ issues: Page }>(query, variables);
      page = body.data?.issues ?? noPage;
      found.push(...page.nodes.map(({ number }) => number));
    }
    expect(found.toSorted((one, other) => one - other)).toEqual(listed);
  });

  it('are counted in full, or the total says that it is a lower bound', async () => {
    const { body } = await app.graphql<{
      team: { issues: { totalCount: number; totalCountIsExact: boolean } };
    }>(
      `query ($numbers: [Int!]!) { team(code: "ENG") {
        issues(filter: { number: { in: $numbers } }) { totalCount totalCountIsExact } } }`,
      { numbers: listed },
    );
    const { totalCount = 0, totalCountIsExact } = body.data?.team.issues ?? {};
    expect(totalCountIsExact ? totalCount : numbers).toBe(numbers);
    expect(totalCount).toBeLessThanOrEqual(numbers);
  });
});

const listed = Array.from({ length: numbers }, (_, index) => index + 1);

interface Page {
  nodes: { number: number }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

const noPage: Page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
