import type { AgentStory } from './agent-stories.ts';

/** Conversations that wait for somebody: pending and active (now, and so long ago that they are stale), awaiting input. */
export const liveStories: readonly AgentStory[] = [
  {
    team: 'WEB',
    kind: 'bug',
    title: 'Price badge overlaps the flag in right-to-left languages',
    description: 'In Arabic and Hebrew the badge “from € 19” covers the flag of the destination.',
    daysAgo: 9,
    ending: 'active',
    minutesAgo: 4,
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Tern, can you mirror the badge for right-to-left pages? The component is PriceBadge.',
      },
    ],
  },
  {
    team: 'PAY',
    kind: 'bug',
    title: 'Ledger export misses vouchers sold on board',
    description:
      'Vouchers from the on-board shop are in the till report, but not in the export to accounting.',
    daysAgo: 10,
    ending: 'active',
    minutesAgo: 2,
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Please find out why on-board vouchers are not exported, and propose a fix.',
      },
      {
        by: 'agent',
        type: 'thought',
        after: 2,
        body: 'The export joins sales to harbours. On-board sales have no harbour, so an inner join would drop them.',
      },
      { by: 'agent', type: 'action', after: 3, body: 'Reading ledger/export/sales.sql and its tests.' },
      {
        by: 'agent',
        type: 'action',
        after: 4,
        body: 'Running the export for last Saturday with a left join: 212 rows more, all of them vouchers.',
      },
    ],
  },
  {
    team: 'MOB',
    kind: 'bug',
    title: 'Widget shows last week’s gate',
    description: 'The widget on the home screen keeps the gate of the last trip on the same line.',
    daysAgo: 21,
    ending: 'active',
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Tern, is the widget’s timeline keyed by line instead of by sailing?',
      },
    ],
  },
  {
    team: 'PLT',
    kind: 'chore',
    title: 'Remove the routes that were deprecated two years ago',
    description: 'Nobody has called them for ninety days. List the callers once more, then delete.',
    daysAgo: 34,
    ending: 'active',
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Remove the deprecated routes, one pull request per service.',
      },
      {
        by: 'agent',
        type: 'thought',
        after: 1,
        body: 'Five services have such routes. I start with the one that has the best tests.',
      },
      {
        by: 'agent',
        type: 'action',
        after: 6,
        body: 'Opened a pull request for inventory. Waiting for its checks.',
      },
    ],
  },
  {
    team: 'DAT',
    kind: 'chore',
    title: 'Backfill occupancy for the two new vessels',
    description: 'Their sensors were installed in March, the records start in May.',
    daysAgo: 17,
    ending: 'active',
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Backfill occupancy of the two new vessels from the raw counts.',
      },
      {
        by: 'agent',
        type: 'thought',
        after: 2,
        body: 'Raw counts exist from 14 March. Before that only manual counts by the crew.',
      },
      {
        by: 'agent',
        type: 'elicitation',
        after: 3,
        body: 'Shall I use the crew’s manual counts for the first two weeks, or leave them empty?',
        followUpActions: [
          { name: 'Use the manual counts', key: 'use-manual', color: '#46a758' },
          { name: 'Leave them empty', key: 'leave-empty', color: '#8d8d8d' },
        ],
      },
    ],
  },
  {
    team: 'CRW',
    kind: 'bug',
    title: 'Certificate warnings arrive a day late',
    description: 'A mate was warned on the day on which his certificate had ended.',
    daysAgo: 26,
    ending: 'active',
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Why was this warning late? Look at the job and the time zones.',
      },
      {
        by: 'agent',
        type: 'action',
        after: 4,
        body: 'Compared the job’s runs of the last month with the certificates’ ends.',
      },
      {
        by: 'agent',
        type: 'elicitation',
        after: 2,
        body: 'The job runs at 23:30 UTC. Which day counts: the vessel’s flag state’s, or the home harbour’s?',
      },
      { by: 'person', type: 'prompt', after: 190, replyTo: 2, body: 'The home harbour’s, says the union.' },
      {
        by: 'agent',
        type: 'elicitation',
        after: 3,
        replyTo: 3,
        body: 'Two crews have no home harbour on record. May I take the operator’s seat for them?',
      },
    ],
  },
  {
    team: 'SUP',
    kind: 'request',
    title: 'Draft an article on changing a vehicle after booking',
    description: 'The question reaches us eleven times a week.',
    daysAgo: 40,
    ending: 'review',
    messages: [
      {
        by: 'person',
        type: 'prompt',
        after: 0,
        body: 'Write a first draft, at most 300 words, for passengers.',
      },
      {
        by: 'agent',
        type: 'thought',
        after: 1,
        body: 'I use the three answers that were rated best this year.',
      },
      {
        by: 'agent',
        type: 'response',
        after: 4,
        body: 'The draft is in the help centre as “Changing your vehicle”, not published.',
      },
      {
        by: 'person',
        type: 'prompt',
        after: 1500,
        body: 'Good. Please add what happens when the new vehicle is longer.',
      },
    ],
  },
];
