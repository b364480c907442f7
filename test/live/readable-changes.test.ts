import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventTypes } from '../../src/model/events.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { numberAllChanges } from './logged.ts';
import { newestCursor } from './subscribing.ts';

const { app, world } = useIssueWorld({ changesRows: true });

describe('changes', () => {
  it.each([
    'issues:read',
    'teams:read',
    'projects:read',
    'members:read',
    'workspace:admin',
    'issues:write',
  ] as const)(
    'are shown to a token with one scope only if they need that scope or none: %s',
    async (scope) => {
      const start = await newestCursor(app);
      await logEachType();
      const visible = eventTypes.filter((type) => [scope, 'any'].includes(scopeNeeded(type)));
      expect(await typesShown(start, await app.tokenFor({ scopes: [scope] }))).toEqual(visible);
    },
  );

  it.each(['admin', 'member', 'guest'] as const)(
    'about webhooks are shown to managers alone, whatever the scopes: %s',
    async (role) => {
      const start = await newestCursor(app);
      await logEachType();
      const shown = await typesShown(start, await app.tokenFor({ role, scopes: ['workspace:admin'] }));
      expect(shown.filter((type) => type.startsWith('webhook.'))).toHaveLength(role === 'admin' ? 1 : 0);
    },
  );
});

/** The types of the changes after a cursor that the token may read. */
async function typesShown(after: string, token: string): Promise<string[]> {
  const { body } = await app.graphql<{ changes: { nodes: { eventType: string }[] } }>(
    'query ($after: String) { changes(after: $after, first: 250) { nodes { eventType } } }',
    { after },
    { token },
  );
  if (body.errors || !body.data) throw new Error(JSON.stringify(body.errors));
  return body.data.changes.nodes.map(({ eventType }) => eventType);
}

/** Logs a change of each type. */
async function logEachType(): Promise<void> {
  await app.database
    .of(app.workspaceId)
    .insertInto('changeInbox')
    .values(
      eventTypes.map((eventType) => ({
        changeId: randomUUID(),
        eventType,
        occurredUtc: new Date(),
        actorUserAccountId: null,
        issueId: null,
        teamId: null,
        subjectId: world.eng.uuid,
        origin: 3,
        requestId: null,
      })),
    )
    .execute();
  await numberAllChanges(app.database);
}

/** The scope that a token needs to read the subject of an event; `any` if every token may read it. */
function scopeNeeded(eventType: string): string {
  const subjects: Readonly<Record<string, string>> = {
    issue: 'issues:read',
    'issue-comment': 'issues:read',
    'issue-link': 'issues:read',
    'issue-attachment': 'issues:read',
    'agent-message': 'issues:read',
    import: 'issues:read',
    team: 'teams:read',
    repository: 'teams:read',
    project: 'projects:read',
    'project-link': 'projects:read',
    member: 'members:read',
    'agent-installation': 'members:read',
    webhook: 'workspace:admin',
    status: 'any',
    label: 'any',
    delivery: 'any',
    'project-status': 'any',
    changes: 'any',
  };
  return subjects[eventType.replace(/\..*$/, '')] ?? 'unknown';
}
