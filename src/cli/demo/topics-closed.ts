import type { Topics } from './topics.ts';

/** What the teams that are inactive or archived wrote about. */
export const closedTopics = {
  DOC: {
    reports: {
      kind: 'bug',
      subjects: ['The guide to group bookings', 'The reference of the sailings API', 'The quick start'],
      faults: [
        'describes a button that is gone',
        'has broken links since the move',
        'uses screenshots of the old console',
        'gives an example that the server refuses',
      ],
    },
    features: [
      'Explain price rules with a worked example',
      'A page for each error code',
      'Translate the operator’s guide into French',
      'Checklist for a new harbour',
      'Glossary of ferry terms',
      'Search with suggestions',
    ],
    chores: [
      'Move the handbook to Markdown',
      'Check links every night',
      'Retire the wiki',
      'Name an owner for each page',
    ],
    research: [
      'Which pages end in a support request?',
      'Do integrators read the guides or copy the examples?',
    ],
    epics: [],
    context: ['The page has two thousand readers a month.', 'Support sends this link several times a week.'],
  },
  LAB: {
    reports: {
      kind: 'bug',
      subjects: ['The radar feed', 'The berth model'],
      faults: ['stops at midnight', 'confuses tugs with ferries', 'is blind in heavy rain'],
    },
    features: [
      'Predict the berth an hour ahead',
      'Replay a day of radar',
      'Confidence for each prediction',
      'Simulate a storm',
    ],
    chores: [
      'Label two hundred arrivals by hand',
      'Store raw radar for the grant’s report',
      'Return the borrowed antenna',
    ],
    research: [
      'Do pilots trust the prediction?',
      'Radar against AIS: which is earlier?',
      'Write the report for the grant',
      'What does a wrong berth cost a line?',
      'Is one harbour’s model good for another?',
    ],
    epics: [],
    context: ['Data from Turku, spring and summer.', 'An experiment: nothing in production depends on it.'],
  },
  MIG: {
    reports: {
      kind: 'bug',
      subjects: ['The replication to the cloud'],
      faults: ['falls behind at night', 'skips tables without a key', 'stops when the VPN renews its keys'],
    },
    features: [
      'Cut over the mail relay',
      'Cut over the ticket archive',
      'Cut over the payroll export',
      'Dashboard of what still runs in Aarhus',
    ],
    chores: [
      'Inventory of racks and leases',
      'Wipe and recycle the disks',
      'Cancel the fibre',
      'Move licences to the new hosts',
      'Hand the keys back',
      'Copy seven years of backups',
      'Check invoices of the last month',
      'Switch monitoring off, host by host',
      'Thank the night shift',
    ],
    research: ['Which jobs does nobody know?', 'Bandwidth needed for the last weekend'],
    epics: [],
    context: ['Part of the plan for the last weekend.', 'Rollback is possible until Sunday noon.'],
  },
  LEG: {
    reports: {
      kind: 'bug',
      subjects: ['The kiosk’s printer', 'The kiosk’s card reader', 'The kiosk shell'],
      faults: [
        'jams on humid days',
        'needs a restart every morning',
        'shows the Windows desktop after an update',
      ],
    },
    features: [
      'Notice on the screen: this kiosk closes',
      'Send passengers to the app by a code',
      'Refund coins of the last day',
    ],
    chores: [
      'Collect the kiosks of the southern harbours',
      'Collect the kiosks of the islands',
      'Wipe the kiosks’ disks',
      'Cancel the paper contract',
      'Return the card terminals',
      'Archive the source with its tools',
      'Give notice to the remote support company',
      'Keep one kiosk for the museum',
    ],
    research: ['Who still buys at a kiosk?', 'What do harbours do with the free space?'],
    epics: [
      {
        title: 'Switch off the last kiosk',
        project: 'SUNSET',
        daysAgo: 290,
        children: [
          { title: 'Agree dates with every harbour' },
          { title: 'Train harbour staff on handheld readers' },
          { title: 'Delete the kiosks’ accounts', team: 'SEC' },
        ],
      },
    ],
    context: ['One of the last nineteen kiosks.', 'Not worth a fix if it can wait until the end.'],
  },
} as const satisfies Record<string, Topics>;
