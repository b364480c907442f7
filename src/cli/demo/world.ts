import type { Insertable } from 'kysely';
import type { Tables } from '../../db/tables/tables.ts';
import { memberRole, memberStatus, principalKind } from '../../model/codes.ts';
import { Calendar } from './calendar.ts';
import type { PersonKey } from './people.ts';
import { Random } from './random.ts';
import type { TeamCode, TeamFacts } from './team-list.ts';

/** The tables that the demo fills, in an order in which every foreign key finds its row. */
export const demoTables = [
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
  'agentThread',
  'agentThreadMessage',
] as const satisfies readonly (keyof Tables)[];

/** The demo's rows by table; within a table a row stands after those that it points at. */
export type DemoRows = { readonly [Name in (typeof demoTables)[number]]: Insertable<Tables[Name]>[] };

/** A member as the rest of the demo knows him. `role`, `status` and `kind` are codes. */
export interface DemoMember {
  readonly key: PersonKey;
  readonly userAccountId: string;
  readonly displayName: string;
  readonly role: number;
  readonly status: number;
  readonly kind: number;
  readonly teamCodes: readonly string[];
  readonly joinedMs: number;
  readonly leftMs: number | undefined;
}

export interface DemoStatus {
  readonly id: string;
  readonly name: string;
  readonly category: number;
  readonly rank: number;
  readonly isInitial: boolean;
  readonly isTerminal: boolean;
}

export interface DemoLabel {
  readonly id: string;
  readonly name: string;
  readonly groupId: string | null;
}

/** `endMs` is the midnight after the last day. */
export interface DemoDelivery {
  readonly id: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** `endMs` is when a completed or canceled project ended, else undefined. */
export interface DemoProject {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly team: DemoTeam;
  readonly state: number;
  readonly lead: DemoMember | undefined;
  readonly startMs: number;
  readonly endMs: number | undefined;
}

export interface DemoTeam {
  readonly id: string;
  readonly code: TeamCode;
  readonly facts: TeamFacts;
  readonly lead: DemoMember | undefined;
  /** Who belongs to it now, whatever the status. */
  readonly members: readonly DemoMember[];
  readonly createdMs: number;
  /** When an inactive or archived team stopped working. */
  readonly endedMs: number | undefined;
  readonly statuses: DemoStatus[];
  readonly labels: DemoLabel[];
  readonly deliveries: DemoDelivery[];
  readonly projects: DemoProject[];
}

/** What the parts of the generator share: what exists so far, and the rows that it comes to. */
export interface World {
  readonly workspaceId: string;
  readonly calendar: Calendar;
  readonly ids: Random;
  readonly rows: DemoRows;
  readonly members: Map<PersonKey, DemoMember>;
  readonly teams: Map<TeamCode, DemoTeam>;
  /** The labels that every team may use. */
  readonly labels: DemoLabel[];
}

export function emptyWorld(workspaceId: string, now: Date): World {
  const rows = Object.fromEntries(demoTables.map((table) => [table, []])) as unknown as DemoRows;
  const ids = new Random(`ids ${workspaceId}`);
  return {
    workspaceId,
    calendar: new Calendar(now),
    ids,
    rows,
    members: new Map(),
    teams: new Map(),
    labels: [],
  };
}

export function memberOf(world: World, key: PersonKey): DemoMember {
  return world.members.get(key) ?? missing('member', key);
}

export function teamOf(world: World, code: TeamCode): DemoTeam {
  return world.teams.get(code) ?? missing('team', code);
}

/** Whether the person could act in the workspace at that time; the invited never could. */
export function wasActive(member: DemoMember, atMs: number): boolean {
  if (member.status === memberStatus.invited) return false;
  return member.joinedMs <= atMs && (member.leftMs === undefined || atMs < member.leftMs);
}

/** The people of the team who may be given issues that are made at that time: they are still active today. */
export function workersAt(team: DemoTeam, atMs: number): DemoMember[] {
  return team.members.filter(
    (member) =>
      member.kind === principalKind.user &&
      member.role !== memberRole.guest &&
      member.status === memberStatus.active &&
      member.joinedMs <= atMs,
  );
}

export function missing(noun: string, name: string): never {
  throw new Error(`The demo has no ${noun} ${name}.`);
}
