import type { Row } from '../../db/tables/tables.ts';
import { memberRole, memberStatus, principalKind } from '../../model/codes.ts';
import type { AgentEntry, DirectoryFile, MemberEntry } from './directory-file.ts';
import { type DirectoryPlan, timesOf } from './directory-plan.ts';
import { storedColumns } from './stored-fields.ts';
import { fold } from '../../model/fold.ts';
import { listExisting } from '../../model/nearest.ts';

type MemberRow = Row<'member'>;

/** Plans members, which are matched by e-mail address, otherwise by name. */
export function planMembers(plan: DirectoryPlan, entries: readonly MemberEntry[]): void {
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = `members[${index}]`;
    const existing = matching(plan, entry, `${path}.displayName`);
    if (existing === 'several') continue;
    const row = putMember(plan, existing, entry, entry.principalKind ?? principalKind.user);
    plan.violations.addUnless(!seen.has(row.id), path, 'is a member that occurs twice in the file');
    seen.add(row.id);
  }
}

/** A workspace must have an owner, because otherwise no member could create tokens for it. */
export function checkOwner(plan: DirectoryPlan, hadOwner: boolean): void {
  const hasOwner = plan.rows.member.some(isOwner);
  plan.violations.addUnless(
    hasOwner || !hadOwner,
    'members',
    'must leave the workspace an active owner (role: owner)',
  );
}

export function isOwner({ role, status }: MemberRow): boolean {
  return role === memberRole.owner && status === memberStatus.active;
}

/** Plans the agents of the workspace: their members, and which of them is the default agent. */
export function planAgents(plan: DirectoryPlan, { agent, agents = [] }: DirectoryFile): void {
  for (const [index, entry] of agents.entries()) {
    const member = putAgent(plan, entry, `agents[${index}]`);
    if (member) putInstallation(plan, entry, member, undefined);
  }
  const chosen = agent && putAgent(plan, agent, 'agent');
  if (!chosen) return;
  const others = plan.rows.agentInstallation.filter(
    (other) => other.agentUserAccountId !== chosen.userAccountId && other.isDefault,
  );
  for (const other of others) {
    plan.put('agentInstallation', {
      kind: installation,
      name: plan.rows.member.find(isOf(other))?.displayName ?? '',
      existing: other,
      wanted: { isDefault: false },
      defaults: {},
    });
  }
  putInstallation(
    plan,
    agent,
    chosen,
    others.every(({ isDefault }) => !isDefault),
  );
}

const installation = 'agent installation';

/** Plans the member that is the agent. Adds a violation and returns undefined if that member is not an agent. */
function putAgent(plan: DirectoryPlan, entry: AgentEntry, path: string): MemberRow | undefined {
  const existing = matching(plan, entry, `${path}.displayName`);
  if (existing === 'several') return undefined;
  if (!existing || existing.principalKind === principalKind.agent)
    return putMember(plan, existing, entry, principalKind.agent);
  plan.violations.add(path, 'is a member who is not an agent');
  return undefined;
}

function putInstallation(
  plan: DirectoryPlan,
  entry: AgentEntry,
  { displayName, userAccountId }: MemberRow,
  isDefault: boolean | undefined,
): void {
  const { createdUtc } = timesOf(entry);
  plan.put('agentInstallation', {
    kind: installation,
    name: displayName,
    existing: plan.rows.agentInstallation.find((row) => row.agentUserAccountId === userAccountId),
    wanted: { isDefault },
    defaults: {
      applicationId: plan.newId({
        kind: 'application',
        key: displayName,
        createdUtc: createdUtc ?? new Date(),
      }),
      agentUserAccountId: userAccountId,
      isDefault: false,
      createdUtc,
    },
  });
}

function isOf({ agentUserAccountId }: Row<'agentInstallation'>): (member: MemberRow) => boolean {
  return ({ userAccountId }) => userAccountId === agentUserAccountId;
}

/** Finds the member that a text in the file names. Adds a violation if there is none or more than one. */
export function memberNamed(plan: DirectoryPlan, path: string, text: string): MemberRow | undefined {
  const wanted = fold(text.trim());
  const byEmail = plan.rows.member.find(({ emailAddressFold }) => emailAddressFold === wanted);
  if (byEmail) return byEmail;
  const [found, ...others] = plan.rows.member.filter(({ displayNameFold }) => displayNameFold === wanted);
  if (!found) {
    plan.violations.add(path, () => {
      const names = plan.rows.member.map(({ displayName }) => displayName);
      return `no member has the e-mail address or name "${text}"${listExisting(text, names)}`;
    });
  }
  if (others.length === 0) return found;
  plan.violations.add(path, `several members are called "${text}": use the e-mail address`);
  return undefined;
}

type NamedMember = Pick<MemberEntry, 'displayName' | 'emailAddress'>;

function matching(plan: DirectoryPlan, entry: NamedMember, path: string): MemberRow | 'several' | undefined {
  const email = entry.emailAddress && fold(entry.emailAddress);
  const byEmail = email && plan.rows.member.find(({ emailAddressFold }) => emailAddressFold === email);
  if (byEmail) return byEmail;
  const name = fold(entry.displayName);
  // A member with a different address is another person with the same name. Imported guests may have no address yet.
  const named = plan.rows.member.filter(
    (row) => row.displayNameFold === name && (email === undefined || row.emailAddressFold === null),
  );
  if (named.length < 2) return named[0];
  plan.violations.add(path, `several members are called "${entry.displayName}": add the emailAddress`);
  return 'several';
}

function putMember(
  plan: DirectoryPlan,
  existing: MemberRow | undefined,
  entry: NamedMember & Partial<MemberEntry>,
  kind: number,
): MemberRow {
  const { displayName, emailAddress } = entry;
  const key = emailAddress ?? displayName;
  const times = timesOf(entry);
  return plan.put('member', {
    kind: 'member',
    name: displayName,
    key,
    existing,
    wanted: {
      ...storedColumns('member', entry),
      displayNameFold: fold(displayName),
      ...(emailAddress && { emailAddress, emailAddressFold: fold(emailAddress) }),
    },
    defaults: {
      userAccountId: plan.newId({ kind: 'user', key, createdUtc: times.createdUtc ?? new Date() }),
      emailAddress: null,
      emailAddressFold: null,
      avatarUrl: null,
      role: memberRole.member,
      status: memberStatus.active,
      principalKind: kind,
      ...times,
    },
  });
}
