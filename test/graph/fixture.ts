import type { Insertable } from 'kysely';
import type { Random } from '../support/random.ts';
import type { TableName, Tables } from '../../src/db/tables/tables.ts';

/** The tables that a fixture fills, in an order in which every foreign key finds its row. */
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

/** A small workspace made to be awkward: ties in every order, nulls, accents, deleted things, counters in slots. */
export interface Fixture {
  readonly workspaceId: string;
  readonly nowMs: number;
  readonly random: Random;
  readonly rows: FixtureRows;
  /** The next id; ids that are made later sort later. */
  uuid: () => string;
}

/** The element at a place of a list that goes round. */
export function turn<T>(list: readonly T[], place: number): T {
  const found = list[place % list.length];
  if (found === undefined) throw new Error('There is nothing to take turns with.');
  return found;
}

/** The calendar day of a moment, in UTC. */
export function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
