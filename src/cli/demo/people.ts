import { fold } from '../../model/fold.ts';
import { memberRole, memberStatus, principalKind } from '../../model/codes.ts';
import { Random } from './random.ts';
import type { DemoMember, World } from './world.ts';

type Facts = {
  name: string;
  /** Codes of the teams, separated by spaces. */
  teams: string;
  role?: keyof typeof memberRole;
  status?: keyof typeof memberStatus;
  kind?: 'user' | 'agent' | 'service';
  joinedDaysAgo?: number;
  leftDaysAgo?: number;
  company?: string;
};

const people = {
  mara: { name: 'Mara Lindqvist', teams: 'PLT WEB SEC', role: 'owner', joinedDaysAgo: 900 },
  tomas: { name: 'Tomás Ó Briain', teams: 'MOB PAY', role: 'owner', joinedDaysAgo: 900 },
  aicha: { name: 'Aïcha Benkirane', teams: 'DAT PLT LEG', role: 'admin', joinedDaysAgo: 840 },
  soren: { name: 'Søren Kjærgaard', teams: 'GTE SEC LEG', role: 'admin', joinedDaysAgo: 810 },
  yuki: { name: 'Yūki Tanaka', teams: 'DSN MOB', role: 'admin', joinedDaysAgo: 760 },
  rosa: { name: 'Rosa Achterberg', teams: 'SUP DOC', role: 'admin', joinedDaysAgo: 720 },
  priya: { name: 'Priya Raghunathan', teams: 'PLT MIG', joinedDaysAgo: 700 },
  lukasz: { name: 'Łukasz Wójcik', teams: 'PLT SEC MIG', joinedDaysAgo: 690 },
  zoe: { name: 'Zoë van der Meer', teams: 'WEB DSN', joinedDaysAgo: 680 },
  jose: { name: 'José Ángel Muñoz', teams: 'PAY WEB', joinedDaysAgo: 660 },
  huong: { name: 'Nguyễn Thị Hương', teams: 'MOB', joinedDaysAgo: 650 },
  chloe: { name: 'Chloé Dubois-Faure', teams: 'DSN WEB', joinedDaysAgo: 640 },
  olafur: { name: 'Ólafur Þórsson', teams: 'GTE LAB', joinedDaysAgo: 630 },
  wei: { name: 'Wei Zhang', teams: 'DAT LAB', joinedDaysAgo: 620 },
  weiTwo: { name: 'Wei Zhang', teams: 'CRW', joinedDaysAgo: 300 },
  ifeoma: { name: 'Ifeoma Okonkwo', teams: 'CRW MOB', joinedDaysAgo: 600 },
  kwame: { name: 'Kwame Mensah', teams: 'SEC PLT', joinedDaysAgo: 590 },
  sebnem: { name: 'Şebnem Yıldırım', teams: 'WEB PAY', joinedDaysAgo: 580 },
  eliska: { name: 'Eliška Dvořáková', teams: 'DAT', joinedDaysAgo: 570 },
  angela: { name: 'Ángela Ibáñez', teams: 'SUP DOC', joinedDaysAgo: 560 },
  joao: { name: 'João Gonçalves', teams: 'MOB GTE', joinedDaysAgo: 540 },
  anneke: { name: 'Anneke Bäcker', teams: 'CRW DSN', joinedDaysAgo: 530 },
  hakon: { name: 'Håkon Bråten', teams: 'GTE', joinedDaysAgo: 520 },
  emile: { name: 'Émile Lefèvre', teams: 'PAY', joinedDaysAgo: 500 },
  siobhan: { name: 'Siobhán Ní Dhomhnaill', teams: 'SUP', joinedDaysAgo: 490 },
  ruta: { name: 'Rūta Kazlauskaitė', teams: 'DAT PLT', joinedDaysAgo: 480 },
  dorde: { name: 'Đorđe Petrović', teams: 'WEB', joinedDaysAgo: 460 },
  stefan: { name: 'Ștefan Ionescu', teams: 'PLT', joinedDaysAgo: 450 },
  katarzyna: { name: 'Katarzyna Żak', teams: 'SEC', joinedDaysAgo: 440 },
  noor: { name: 'Noor al-Ḥadīdī', teams: 'DAT LAB', joinedDaysAgo: 430 },
  farid: { name: 'Farid Rahmani', teams: 'MOB', joinedDaysAgo: 420 },
  leilani: { name: 'Leilani Kāhananui', teams: 'SUP', joinedDaysAgo: 410 },
  mikko: { name: 'Mikko Hämäläinen', teams: 'CRW PLT', joinedDaysAgo: 390 },
  nikos: { name: 'Νίκος Παπαδάκης', teams: 'PAY', joinedDaysAgo: 280 },
  hanako: { name: '山田 花子', teams: 'DSN', joinedDaysAgo: 240 },
  dmytro: { name: 'Дмитро Коваль', teams: 'GTE SEC', joinedDaysAgo: 200 },
  jihoon: { name: '박지훈', teams: 'WEB', joinedDaysAgo: 150 },
  tekle: { name: 'Tekle Hailu', teams: 'MOB SUP', joinedDaysAgo: 90 },
  ana: { name: 'Ana-Sofía Peña', teams: 'DAT', joinedDaysAgo: 45 },
  bjork: { name: 'Björk Sæmundsdóttir', teams: 'WEB', status: 'invited', joinedDaysAgo: 4 },
  layla: { name: 'ليلى حداد', teams: 'CRW', status: 'invited', joinedDaysAgo: 2 },
  viktor: { name: 'Viktor Szabó', teams: 'PAY', status: 'suspended', joinedDaysAgo: 610, leftDaysAgo: 70 },
  imani: { name: 'Imani Wachira', teams: 'SUP', status: 'suspended', joinedDaysAgo: 470, leftDaysAgo: 25 },
  gustavo: { name: 'Gustavo Brandão', teams: '', status: 'removed', joinedDaysAgo: 700, leftDaysAgo: 160 },
  petra: {
    name: 'Petra Křížová',
    teams: '',
    role: 'admin',
    status: 'removed',
    joinedDaysAgo: 850,
    leftDaysAgo: 220,
  },
  maelle: {
    name: 'Maëlle Kerguélen',
    teams: 'SUP',
    role: 'guest',
    joinedDaysAgo: 400,
    company: 'ponant-lines.example',
  },
  ingrid: {
    name: 'Ingrid Sjöström',
    teams: 'CRW',
    role: 'guest',
    joinedDaysAgo: 350,
    company: 'skargard.example',
  },
  paul: {
    name: 'Paul Adeyemi',
    teams: 'GTE',
    role: 'guest',
    joinedDaysAgo: 180,
    company: 'harbour-trust.example',
  },
  lucia: {
    name: 'Lucía Ferrán',
    teams: '',
    role: 'guest',
    status: 'invited',
    joinedDaysAgo: 6,
    company: 'naviera-sur.example',
  },
  omar: {
    name: 'Omar Šarić',
    teams: '',
    role: 'guest',
    status: 'removed',
    joinedDaysAgo: 500,
    leftDaysAgo: 300,
  },
  tern: { name: 'Tern', teams: 'PLT PAY WEB DAT', kind: 'agent', joinedDaysAgo: 260 },
  pilot: {
    name: 'Pilot (preview)',
    teams: '',
    kind: 'agent',
    role: 'guest',
    status: 'suspended',
    joinedDaysAgo: 120,
  },
  release: { name: 'Release Robot', teams: 'PLT', kind: 'service', joinedDaysAgo: 640 },
} as const satisfies Record<string, Facts>;

export type PersonKey = keyof typeof people;

const domain = 'halyard-tern.example';

/** Adds the accounts and members: people of every role and status, two agents and a service account. */
export function addPeople(world: World): void {
  const addresses = new Set<string>();
  for (const [key, facts] of Object.entries(people) as [PersonKey, Facts][]) {
    const random = new Random(`person ${key}`);
    const joinedMs =
      world.calendar.daysAgo(facts.joinedDaysAgo ?? 365) + random.integer(7 * 3_600_000, 12 * 3_600_000);
    const member: DemoMember = {
      key,
      userAccountId: world.ids.uuid(joinedMs),
      displayName: facts.name,
      role: memberRole[facts.role ?? 'member'],
      status: memberStatus[facts.status ?? 'active'],
      kind: principalKind[facts.kind ?? 'user'],
      teamCodes: facts.teams.split(' '),
      joinedMs,
      leftMs: facts.leftDaysAgo === undefined ? undefined : world.calendar.daysAgo(facts.leftDaysAgo),
    };
    world.members.set(key, member);
    addRows(world, member, {
      emailAddress: facts.kind ? null : emailAddress(member, facts.company ?? domain, addresses),
      avatarUrl: random.chance(0.7) ? `https://avatars.${domain}/${key.toLowerCase()}.png` : null,
    });
  }
}

function addRows(
  world: World,
  member: DemoMember,
  contact: { emailAddress: string | null; avatarUrl: string | null },
): void {
  const { workspaceId } = world;
  const { userAccountId, displayName, role, status, kind, joinedMs, leftMs } = member;
  const createdUtc = new Date(joinedMs);
  world.rows.userAccount.push({ id: userAccountId, createdUtc });
  world.rows.member.push({
    workspaceId,
    id: world.ids.uuid(joinedMs),
    userAccountId,
    displayName,
    displayNameFold: fold(displayName),
    ...contact,
    emailAddressFold: contact.emailAddress && fold(contact.emailAddress),
    principalKind: kind,
    role,
    status,
    createdUtc,
    updatedUtc: new Date(leftMs ?? joinedMs),
  });
}

/** First and last name where they are Latin, else the short name; a namesake gets a number. */
function emailAddress(member: DemoMember, host: string, taken: Set<string>): string {
  const latin = fold(member.displayName.replaceAll('ø', 'o').replaceAll('æ', 'ae').replace(/[łŁ]/g, 'l'))
    .replace(/[^a-z ]/g, '')
    .trim();
  const local = latin.includes(' ') ? latin.replaceAll(/ +/g, '.') : member.key.toLowerCase();
  let address = `${local}@${host}`;
  for (let number = 2; taken.has(address); number += 1) address = `${local}${number}@${host}`;
  taken.add(address);
  return address;
}
