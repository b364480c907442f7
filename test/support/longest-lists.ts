import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { limits } from '../../src/model/limits.ts';
import { fold } from '../../src/model/fold.ts';
import type { App } from './app.ts';
import { member, team } from './fixtures.ts';

/** As many as a page holds. */
const issues = 250;
const atOnce = 10;

/** Fills a page with issues of one team whose labels, assignees and roles are as many as an issue takes. */
export async function fillLists(app: App): Promise<void> {
  const { database, workspaceId } = app;
  const { id } = await team(database, workspaceId, { code: 'LONG' });
  const labels = Array.from({ length: limits.labels }, (_, place) => {
    const name = `Label ${place}`;
    return { workspaceId, id: newUuid(), teamId: id, name, nameFold: fold(name) };
  });
  await database.unscoped.insertInto('label').values(labels).execute();
  const people: string[] = [];
  for (let place = 0; place < limits.people; place += 1) {
    const { userAccountId } = await member(database, workspaceId);
    people.push(encodeId('user', userAccountId));
  }
  const input = {
    teamId: encodeId('team', id),
    title: 'An issue with long lists',
    labelIds: labels.map((label) => encodeId('label', label.id)),
    assigneeUserAccountIds: people,
    roleAssignments: people.map((userAccountId, place) => ({ role: `Role ${place}`, userAccountId })),
  };
  const made = Array.from(
    { length: atOnce },
    (_, place) => `a${place}: issueCreate(input: $input) { __typename }`,
  );
  const query = `mutation ($input: IssueCreateInput!) { ${made.join(' ')} }`;
  for (let count = 0; count < issues; count += atOnce) {
    const { body } = await app.graphql(query, { input });
    if (body.errors) throw new Error(`The issues failed: ${JSON.stringify(body.errors)}`);
  }
}
