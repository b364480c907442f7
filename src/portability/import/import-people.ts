import { insertRows } from '../../db/writes/insert-rows.ts';
import { selectMembersNamed } from '../../db/imports.ts';
import type { LocalRow } from '../../db/tables/tenant-tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { memberRole, memberStatus, principalKind } from '../../model/codes.ts';
import { fold } from '../../model/fold.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { CleanIssue } from './import-clean.ts';
import type { ImportFiles } from './import-files.ts';
import type { NewId } from '../row-ids.ts';
import { logImported } from './import-events.ts';
import type { ImportedPerson } from './import-issue.ts';
import type { ImportLedger } from './import-ledger.ts';

/** The destination of an import, and the name of its source. */
export interface ImportTarget {
  readonly workspaceId: string;
  /** The name of the source. Ids are unique only within a source. */
  readonly source: string;
  readonly ledger: ImportLedger;
  readonly newId: NewId;
  /** Copies the files of attachments. */
  readonly files: ImportFiles;
  /** The code of the team that gets all issues; undefined if each issue names its team. */
  readonly teamCode: string | undefined;
  /** The person to use where the source names none. */
  readonly anonymous: ImportedPerson;
}

/** The members that correspond to the persons in a batch. */
export interface People {
  account(person: ImportedPerson | undefined): string;
  /** Whether issues may be assigned to the person. They may not if the member is suspended or removed. */
  isAssignable(person: ImportedPerson): boolean;
  /** The number of guests that were created. */
  readonly created: number;
}

/**
 * Finds the members that correspond to the persons of a source: by earlier imports, otherwise by e-mail address,
 * otherwise by name. For a person without a member, it creates an invited guest.
 */
export async function findPeople(
  trx: Trx,
  target: ImportTarget,
  issues: readonly CleanIssue[],
): Promise<People> {
  const named = issues.flatMap(peopleOf).map((person) => person ?? target.anonymous);
  const people = new Map(named.map((person) => [keyOf(person), person]));
  const before = await target.ledger.find(trx, 'member', [...people.keys()]);
  const members = await selectMembersNamed(trx, {
    userAccountIds: [...before.values()].map(({ targetId }) => targetId),
    emailFolds: [...new Set(named.flatMap(({ emailAddress }) => (emailAddress ? fold(emailAddress) : [])))],
    nameFolds: [...new Set(named.map(({ name }) => fold(name)))],
  });
  const known = new KnownMembers(members);
  const found = new Map<string, LocalRow<'member'>>();
  const guests: LocalRow<'member'>[] = [];
  for (const [key, person] of people) {
    const earlier = before.get(key);
    let member = (earlier && known.ofAccount(earlier.targetId)) ?? known.matching(person);
    if (!member) {
      member = guest(person);
      guests.push(member);
      known.add(member);
    }
    found.set(key, member);
  }
  const added = new Map([...found].filter(([key]) => !before.has(key)));
  await insertGuests(trx, target, guests, added);
  return peopleFound(target, found, guests.length);
}

/** An index of the members by everything that a source may know of them, because one line may name thousands of people. */
class KnownMembers {
  readonly #byAccount = new Map<string, LocalRow<'member'>>();
  readonly #byEmail = new Map<string, LocalRow<'member'>>();
  readonly #byName = new Map<string, LocalRow<'member'>[]>();

  constructor(members: readonly LocalRow<'member'>[]) {
    for (const member of members) this.add(member);
  }

  add(member: LocalRow<'member'>): void {
    const { userAccountId, emailAddressFold, displayNameFold } = member;
    this.#byAccount.set(userAccountId, member);
    if (emailAddressFold !== null && !this.#byEmail.has(emailAddressFold))
      this.#byEmail.set(emailAddressFold, member);
    const named = this.#byName.get(displayNameFold);
    if (named) named.push(member);
    else this.#byName.set(displayNameFold, [member]);
  }

  ofAccount(userAccountId: string): LocalRow<'member'> | undefined {
    return this.#byAccount.get(userAccountId);
  }

  matching({ name, emailAddress }: ImportedPerson): LocalRow<'member'> | undefined {
    const email = emailAddress === undefined ? undefined : fold(emailAddress);
    const byEmail = email === undefined ? undefined : this.#byEmail.get(email);
    if (byEmail) return byEmail;
    // A name without an address matches any member of that name. A member with a different address is another person.
    const named = (this.#byName.get(fold(name)) ?? []).filter(
      (member) => email === undefined || member.emailAddressFold === null,
    );
    return named.find(({ status }) => status === memberStatus.active) ?? named[0];
  }
}

async function insertGuests(
  trx: Trx,
  { ledger }: ImportTarget,
  guests: readonly LocalRow<'member'>[],
  added: ReadonlyMap<string, LocalRow<'member'>>,
): Promise<void> {
  const accounts = guests.map(({ userAccountId }) => ({ id: userAccountId }));
  await insertRows(trx, 'userAccount', accounts);
  await insertRows(trx, 'member', guests);
  await logImported(trx, 'member.created.v1', guests);
  const entries = [...added].map(([sourceId, { userAccountId }]) => ({ sourceId, targetId: userAccountId }));
  await ledger.remember(trx, 'member', entries);
}

function peopleFound(
  target: ImportTarget,
  found: ReadonlyMap<string, LocalRow<'member'>>,
  created: number,
): People {
  const memberOf = (person: ImportedPerson) => {
    const member = found.get(keyOf(person));
    if (!member) throw new Error('A person of the batch was not looked up.');
    return member;
  };
  return {
    created,
    account: (person) => memberOf(person ?? target.anonymous).userAccountId,
    isAssignable: (person) => memberOf(person).status <= memberStatus.active,
  };
}

function peopleOf(issue: CleanIssue): (ImportedPerson | undefined)[] {
  return [
    issue.reporter,
    ...(issue.primaryAssignee ? [issue.primaryAssignee] : []),
    ...issue.assignees,
    ...issue.comments.map(({ author }) => author),
    ...issue.links.map(({ createdBy }) => createdBy),
    ...(issue.roleAssignments ?? []).map(({ person }) => person),
    ...(issue.subscribers ?? []),
    ...(issue.activity ?? []).map(({ actor }) => actor),
    ...(issue.attachments ?? []).map(({ uploadedBy }) => uploadedBy),
    ...(issue.agentThread?.agent ? [issue.agentThread.agent] : []),
    ...(issue.agentThread?.messages ?? []).map(({ author }) => author),
  ];
}

/** The key that identifies a person in the source. */
function keyOf({ name, emailAddress }: ImportedPerson): string {
  return emailAddress === undefined ? name : fold(emailAddress);
}

function guest(person: ImportedPerson) {
  const nowUtc = new Date();
  return {
    id: newUuid(),
    userAccountId: newUuid(),
    displayName: person.name,
    displayNameFold: fold(person.name),
    avatarUrl: null,
    emailAddress: person.emailAddress ?? null,
    emailAddressFold: person.emailAddress === undefined ? null : fold(person.emailAddress),
    principalKind: person.principalKind ?? principalKind.user,
    role: memberRole.guest,
    status: memberStatus.invited,
    createdUtc: nowUtc,
    updatedUtc: nowUtc,
  };
}
