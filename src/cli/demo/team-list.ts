import type { PersonKey } from './people.ts';

type Repository = {
  name: string;
  project?: string;
  branch?: string;
  provider: 'github' | 'azure_devops';
  isDefault?: true;
};

export interface TeamFacts {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly iconCss: string;
  readonly color: string;
  readonly state: 'active' | 'inactive' | 'archived';
  readonly lead?: PersonKey;
  readonly workflow: 'engineering' | 'design' | 'support' | 'simple';
  /** What a delivery is called here, and which of two alternating weeks it starts in; without it there are none. */
  readonly cycle?: { word: string; offsetWeeks: 0 | 1 };
  readonly issueCount: number;
  readonly createdDaysAgo: number;
  readonly endedDaysAgo?: number;
  readonly labels: readonly string[];
  readonly labelGroup?: { name: string; labels: readonly string[] };
  readonly repositories: readonly Repository[];
}

/** The teams by their codes: in all three states, with and without lead, deliveries, repositories and a default. */
export const teamList = {
  MOB: {
    name: 'Passenger App',
    slug: 'passenger-app',
    description: 'The app for iOS and Android: tickets, sailings, disruption alerts and boarding.',
    iconCss: 'icon-smartphone',
    color: '#2f6fde',
    state: 'active',
    lead: 'tomas',
    workflow: 'engineering',
    cycle: { word: 'Sprint', offsetWeeks: 0 },
    issueCount: 70,
    createdDaysAgo: 880,
    labels: ['regression', 'crash', 'release blocker', 'offline'],
    labelGroup: { name: 'Device', labels: ['iOS', 'Android', 'Tablet', 'Watch'] },
    repositories: [
      { name: 'passenger-app', provider: 'github', isDefault: true },
      { name: 'ticket-wallet-kit', provider: 'github' },
      {
        name: 'app-release-pipelines',
        project: 'Mobile Delivery',
        provider: 'azure_devops',
        branch: 'master',
      },
    ],
  },
  WEB: {
    name: 'Booking Web',
    slug: 'booking-web',
    description: 'Search, booking and self-service on the web, white-labelled for every ferry line.',
    iconCss: 'icon-globe',
    color: '#0f9d8a',
    state: 'active',
    lead: 'zoe',
    workflow: 'engineering',
    cycle: { word: 'Sprint', offsetWeeks: 1 },
    issueCount: 66,
    createdDaysAgo: 870,
    labels: ['regression', 'seo', 'browser support'],
    labelGroup: { name: 'Surface', labels: ['Search', 'Checkout', 'My trips', 'Partner sites'] },
    repositories: [
      { name: 'booking-web', provider: 'github', isDefault: true },
      { name: 'partner-themes', provider: 'github' },
    ],
  },
  PLT: {
    name: 'Platform',
    slug: 'platform',
    description: 'Services, infrastructure and the developer experience that all other teams stand on.',
    iconCss: 'icon-server',
    color: '#6b4fd8',
    state: 'active',
    lead: 'priya',
    workflow: 'engineering',
    cycle: { word: 'Cycle', offsetWeeks: 0 },
    issueCount: 68,
    createdDaysAgo: 880,
    labels: ['incident follow-up', 'toil', 'cost', 'breaking change'],
    labelGroup: { name: 'Service', labels: ['Gateway', 'Inventory', 'Notifications', 'Build'] },
    repositories: [
      { name: 'platform', provider: 'github', isDefault: true },
      { name: 'infrastructure', provider: 'github' },
      { name: 'service-template', provider: 'github', branch: 'trunk' },
      { name: 'edge-config', project: 'Operations', provider: 'azure_devops' },
    ],
  },
  DAT: {
    name: 'Data & Insights',
    slug: 'data-insights',
    description: 'Pipelines, forecasts and reports for the lines that sail with us.',
    iconCss: 'icon-chart',
    color: '#d9822b',
    state: 'active',
    lead: 'aicha',
    workflow: 'engineering',
    cycle: { word: 'Cycle', offsetWeeks: 1 },
    issueCount: 54,
    createdDaysAgo: 800,
    labels: ['data quality', 'forecast', 'dashboard'],
    repositories: [
      { name: 'warehouse-models', project: 'Insights', provider: 'azure_devops', isDefault: true },
      { name: 'demand-forecast', project: 'Insights', provider: 'azure_devops' },
      { name: 'event-schemas', provider: 'github' },
    ],
  },
  DSN: {
    name: 'Design',
    slug: 'design',
    description: 'Research, interaction and the Keel design system.',
    iconCss: 'icon-pen',
    color: '#d6409f',
    state: 'active',
    lead: 'yuki',
    workflow: 'design',
    cycle: { word: 'Iteration', offsetWeeks: 0 },
    issueCount: 44,
    createdDaysAgo: 780,
    labels: ['design system', 'usability', 'copy'],
    repositories: [],
  },
  SEC: {
    name: 'Security',
    slug: 'security',
    description: 'Keeps passengers’ data and the lines’ money safe; reviews, audits and incidents.',
    iconCss: 'icon-shield',
    color: '#c62f3b',
    state: 'active',
    lead: 'kwame',
    workflow: 'engineering',
    issueCount: 46,
    createdDaysAgo: 760,
    labels: ['vulnerability', 'audit', 'pentest', 'policy'],
    labelGroup: { name: 'Severity', labels: ['Critical', 'Major', 'Minor'] },
    repositories: [{ name: 'security-policies', provider: 'github' }],
  },
  SUP: {
    name: 'Customer Support',
    slug: 'customer-support',
    description: 'Second line for the ferry lines: requests, escalations and what we learn from them.',
    iconCss: 'icon-lifebuoy',
    color: '#3a9d23',
    state: 'active',
    lead: 'rosa',
    workflow: 'support',
    issueCount: 58,
    createdDaysAgo: 720,
    labels: ['escalation', 'how-to', 'known issue'],
    labelGroup: {
      name: 'Line',
      labels: ['Ponant Lines', 'Skärgård Express', 'Naviera del Sur', 'Tern Islands Ferries'],
    },
    repositories: [],
  },
  PAY: {
    name: 'Payments',
    slug: 'payments',
    description: 'Taking money, giving it back, and telling the accountants about both.',
    iconCss: 'icon-credit-card',
    color: '#1f7a4d',
    state: 'active',
    lead: 'jose',
    workflow: 'engineering',
    cycle: { word: 'Cycle', offsetWeeks: 0 },
    issueCount: 56,
    createdDaysAgo: 840,
    labels: ['reconciliation', 'refunds', 'compliance'],
    repositories: [
      { name: 'payments', project: 'Payments', provider: 'azure_devops', isDefault: true },
      { name: 'ledger', project: 'Payments', provider: 'azure_devops' },
      { name: 'fare-rules', provider: 'github' },
    ],
  },
  CRW: {
    name: 'Crew Rostering',
    slug: 'crew-rostering',
    description: 'Rosters that keep crews legal, rested and on the right vessel.',
    iconCss: 'icon-anchor',
    color: '#0b7285',
    state: 'active',
    lead: 'ifeoma',
    workflow: 'engineering',
    cycle: { word: 'Sprint', offsetWeeks: 1 },
    issueCount: 54,
    createdDaysAgo: 620,
    labels: ['rest rules', 'solver', 'union request'],
    repositories: [
      { name: 'roster-solver', provider: 'github', isDefault: true },
      { name: 'crew-portal', provider: 'github' },
    ],
  },
  GTE: {
    name: 'Harbour Gates',
    slug: 'harbour-gates',
    description: 'Scanners, turnstiles and displays at 61 terminals, and the firmware inside them.',
    iconCss: 'icon-gate',
    color: '#8a6d1b',
    state: 'active',
    lead: 'soren',
    workflow: 'engineering',
    cycle: { word: 'Release', offsetWeeks: 1 },
    issueCount: 48,
    createdDaysAgo: 640,
    labels: ['firmware', 'field visit', 'vendor'],
    labelGroup: { name: 'Hardware', labels: ['Scanner', 'Turnstile', 'Display'] },
    repositories: [
      { name: 'gate-firmware', project: 'Devices', provider: 'azure_devops', branch: 'release/next' },
      { name: 'gate-console', provider: 'github' },
    ],
  },
  DOC: {
    name: 'Documentation',
    slug: 'documentation',
    description: 'Guides for operators and integrators. Folded into the product teams for now.',
    iconCss: 'icon-book',
    color: '#7a869a',
    state: 'inactive',
    lead: 'angela',
    workflow: 'simple',
    issueCount: 24,
    createdDaysAgo: 560,
    endedDaysAgo: 58,
    labels: ['guide', 'api reference'],
    repositories: [{ name: 'handbook', provider: 'github', isDefault: true }],
  },
  LAB: {
    name: 'Tide Lab',
    slug: 'tide-lab',
    description: 'Experiments with berth prediction; paused until the next grant.',
    iconCss: 'icon-flask',
    color: '#5f3dc4',
    state: 'inactive',
    workflow: 'simple',
    issueCount: 18,
    createdDaysAgo: 420,
    endedDaysAgo: 96,
    labels: ['experiment'],
    repositories: [{ name: 'berth-prediction', provider: 'github' }],
  },
  LEG: {
    name: 'Ticket Kiosk (legacy)',
    slug: 'ticket-kiosk-legacy',
    description: 'The Windows kiosks, switched off in the last harbour.',
    iconCss: 'icon-archive',
    color: '#868e96',
    state: 'archived',
    lead: 'soren',
    workflow: 'simple',
    cycle: { word: 'Sprint', offsetWeeks: 0 },
    issueCount: 24,
    createdDaysAgo: 890,
    endedDaysAgo: 150,
    labels: ['kiosk', 'end of life'],
    repositories: [
      { name: 'kiosk-shell', project: 'Kiosk', provider: 'azure_devops', branch: 'master', isDefault: true },
    ],
  },
  MIG: {
    name: 'Data Centre Exit',
    slug: 'data-centre-exit',
    description: 'Moved everything out of the Aarhus data centre; done and closed.',
    iconCss: 'icon-truck',
    color: '#495057',
    state: 'archived',
    workflow: 'simple',
    issueCount: 18,
    createdDaysAgo: 390,
    endedDaysAgo: 190,
    labels: ['cutover'],
    repositories: [],
  },
} as const satisfies Record<string, TeamFacts>;

export type TeamCode = keyof typeof teamList;
