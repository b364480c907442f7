import type { Insertable } from 'kysely';
import type { Random } from '../support/random.ts';
import type { TableName, Tables } from '../../src/db/tables/tables.ts';

/** The tables that a fixture fills, in an order that satisfies the foreign keys. */
export const fixtureTables = [
  'workspace',
  'userAccount',
  'member',
  'team',
  'teamCounter',
  'teamMember',
  'status',
  'label',
  'delivery',
  'deliveryCount',
  'projectStatus',
  'project',
  'projectCount',
  'projectMember',
  'projectLabel',
  'projectLink',
  'repository',
  'agentInstallation',
  'issue',
  'issueAssignee',
  'issueLabel',
  'issueSubscription',
  'issueRoleAssignment',
  'comment',
  'issueLink',
  'attachment',
  'activity',
  'issueStage',
  'issueText',
  'agentThread',
  'agentThreadMessage',
  'webhook',
  'webhookDelivery',
] as const satisfies readonly TableName[];

export type FixtureRows = { [Name in (typeof fixtureTables)[number]]: Insertable<Tables[Name]>[] };

/** A small workspace of edge cases: ties in every order, nulls, accents, deleted objects, counters in several slots. */
export interface Fixture {
  readonly workspaceId: string;
  readonly nowMs: number;
  readonly random: Random;
  readonly rows: FixtureRows;
  /** Makes an id that sorts after all earlier ones. */
  uuid: () => string;
}

/** The element at an index modulo the length of the list. */
export function cyclicAt<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  if (found === undefined) throw new Error('The list is empty.');
  return found;
}

/** The date of a time in UTC. */
export function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
