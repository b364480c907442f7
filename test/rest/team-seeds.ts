import { teamState } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import type { App } from '../support/app.ts';
import { member } from '../support/fixtures.ts';

const rows = [
  {
    code: 'ENG',
    name: 'Engineering',
    slug: 'engineering',
    state: 'active',
    members: 3,
    projects: 2,
    deliveries: true,
    lead: 'Lena',
  },
  {
    code: 'DES',
    name: 'Design',
    slug: 'product-design',
    state: 'active',
    members: 3,
    projects: 0,
    deliveries: false,
    lead: 'Lena',
  },
  // Its position among the names depends on folding.
  {
    code: 'OPS',
    name: 'Öperations',
    slug: 'ops',
    state: 'inactive',
    members: 1,
    projects: 2,
    deliveries: true,
    lead: 'Otto',
  },
  // Characters that are wildcards in LIKE.
  {
    code: 'ZED',
    name: 'zebra_100%',
    slug: 'zebra',
    state: 'archived',
    members: 0,
    projects: 5,
    deliveries: false,
    lead: '',
  },
  {
    code: 'ARC',
    name: 'Archive',
    slug: 'archive',
    state: 'archived',
    members: 1,
    projects: 0,
    deliveries: false,
    lead: '',
  },
] as const;

/** A team with the values of its row and public ids. */
export interface SeededTeam {
  id: string;
  code: string;
  name: string;
  slug: string;
  state: keyof typeof teamState;
  memberCount: number;
  activeProjectCount: number;
  deliveriesEnabled: boolean;
  leadUserAccountId: string;
}

/** Five teams with ties in every sort, led by Lena (who has an avatar), Otto or nobody; ENG has 42 issues. */
export async function seedTeams({ database, workspaceId }: App) {
  const { unscoped: db } = database;
  const lena = await member(database, workspaceId, { displayName: 'Lena' });
  const otto = await member(database, workspaceId, { displayName: 'Otto' });
  const people = { Lena: lena.userAccountId, Otto: otto.userAccountId, '': null };
  await db
    .updateTable('member')
    .set({ avatarUrl: 'https://example.com/lena.png' })
    .where('workspaceId', '=', workspaceId)
    .where('userAccountId', '=', people.Lena)
    .execute();
  const teams: SeededTeam[] = [];
  for (const { code, name, slug, state, members, projects, deliveries, lead: leadName } of rows) {
    const id = newUuid();
    const leadUserAccountId = people[leadName];
    const shared = {
      code,
      name,
      slug,
      memberCount: members,
      activeProjectCount: projects,
      deliveriesEnabled: deliveries,
    };
    await db
      .insertInto('team')
      .values({
        ...shared,
        workspaceId,
        id,
        nameFold: fold(name),
        state: teamState[state],
        leadUserAccountId,
      })
      .execute();
    await db
      .insertInto('teamCounter')
      .values({ workspaceId, teamId: id, ...(code === 'ENG' && { nextIssueNumber: 43, goneIssueCount: 42 }) })
      .execute();
    const shownLead = leadUserAccountId ? encodeId('user', leadUserAccountId) : '';
    teams.push({ ...shared, id: encodeId('team', id), state, leadUserAccountId: shownLead });
  }
  return { teams, lena: encodeId('user', people.Lena), otto: encodeId('user', people.Otto) };
}
