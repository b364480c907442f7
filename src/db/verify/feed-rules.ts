import { events, type FeedEventType, feedEventTypes } from '../../model/events.ts';
import { countedByIssue, faultyIssues, onIssue, type Rule } from './rule.ts';

/**
 * The rules of the feed of an issue: its positions, its order, and one entry for each write that it reports. The feed of an
 * imported issue comes from its source. It may lack entries of rows that were imported with the issue, and may have entries of
 * rows that were not.
 */
export function feedRules(): Rule[] {
  return [
    {
      name: 'positions in a feed go from 1 to activity_count without gaps, the last at last_activity_utc',
      covers: ['issue.activity_count', 'issue.last_activity_utc'],
      statement: faultyIssues(
        `format('activity_count %s, counted %s up to position %s; last_activity_utc %s, newest %s',
          i.activity_count, coalesce(f.counted, 0), coalesce(f.newest, 0), i.last_activity_utc, f.at)`,
        `left join ${countedByIssue('activity', 'true', ', max(sort_order) as newest, max(occurred_utc) as at')} f
           on ${onIssue('f')}
         where i.activity_count <> coalesce(f.counted, 0) or i.activity_count <> coalesce(f.newest, 0)
           or i.last_activity_utc is distinct from f.at`,
      ),
    },
    {
      name: 'entries of a feed are in the order of time',
      statement: faultyIssues(
        `format('the entry at position %s is older than the one before it', f.sort_order)`,
        `join (select workspace_id, issue_id, sort_order, occurred_utc,
             lag(occurred_utc) over (partition by workspace_id, issue_id order by sort_order) as before from activity) f
           on ${onIssue('f')}
         where f.occurred_utc < f.before`,
      ),
    },
    {
      name: 'entries of a feed have known event types',
      statement: faultyIssues(
        `format('%s at position %s', f.event_type, f.sort_order)`,
        `join activity f on ${onIssue('f')} where f.event_type not in (${feedEventTypes.map((type) => `'${type}'`).join(', ')})`,
      ),
    },
    ...feedEventTypes.map((type) => ({ name: events[type].rule, statement: statements[type](type) })),
  ];
}

/** The statement that compares the entries of an event with the rows that they report. */
const statements: Readonly<Record<FeedEventType, (eventType: FeedEventType) => string>> = {
  'issue-comment.created.v1': compare(ofComments('count(*)', 'count(*) filter (where s.target_id is null)')),
  'issue-comment.deleted.v1': compare(
    ofComments(
      'count(c.deleted_utc)',
      `count(c.deleted_utc) filter (where s.target_id is null)`,
      `and record ->> 'deleted' = 'true'`,
    ),
  ),
  'issue-comment.updated.v1': compare(
    ofComments(
      'sum(c.revision - 1 - (c.deleted_utc is not null)::int)',
      'sum(c.revision - 1 - (c.deleted_utc is not null)::int) filter (where s.target_id is null)',
    ),
  ),
  'issue-link.created.v1': compare(
    ofIssues('issue_link', 'count(*)', { least: 'count(*) filter (where s.target_id is null)' }),
  ),
  'issue-link.deleted.v1': compare(ofIssues('issue_link', 'count(r.deleted_utc)', { came: 'deletedLinks' })),
  'agent-message.created.v1': compare(ofIssues('agent_thread_message', 'count(*)', { came: 'messages' })),
  // The entry of a deleted attachment remains, so there may be more entries than attachments.
  'issue-attachment.created.v1': (eventType) =>
    faultyIssues(
      `format('%s attachments, %s entries', a.counted, coalesce(f.counted, 0))`,
      `join ${countedByIssue('attachment', 'uploaded_utc is not null')} a on ${onIssue('a')}
         left join ${entriesOf(eventType)} f on ${onIssue('f')}
         left join ${importedWith('attachments')} s on s.workspace_id = i.workspace_id and s.target_id = i.id
         where coalesce(f.counted, 0) < a.counted - coalesce(s.came, 0)`,
    ),
  // Deletions, restorations and imports are revisions too. An imported issue was last updated by its source.
  'issue.updated.v1': (eventType) =>
    faultyIssues(
      `format('revision %s, %s entries; updated_utc %s, newest entry %s',
          i.revision, coalesce(f.counted, 0), i.updated_utc, f.newest)`,
      `left join ${entriesOf(eventType, ', max(occurred_utc) as newest')} f on ${onIssue('f')}
         left join ${imported('issue')} s
           on s.workspace_id = i.workspace_id and s.target_id = i.id
         where coalesce(f.counted, 0) > i.revision - 1
           or (s.target_id is null and i.updated_utc <> coalesce(f.newest, i.created_utc))`,
    ),
};

function entriesOf(eventType: FeedEventType, more = ''): string {
  return countedByIssue('activity', `event_type = '${eventType}'`, more);
}

/** Selects each row of a kind that imports have created. */
function imported(kind: string, condition = ''): string {
  return `(select distinct workspace_id, target_id from import_source where kind = '${kind}' ${condition})`;
}

/** Selects imported issues, with the number of rows of a kind that were imported with each. Their feeds may omit those. */
function importedWith(kind: string): string {
  return `(select workspace_id, target_id, max((record -> 'came' ->> '${kind}')::int) as came
    from import_source where kind = 'issue' group by 1, 2)`;
}

/**
 * Counts comments by issue (`counted`), and how many of them must have an entry (`least`). The alias `s` is null where a
 * comment was not imported.
 */
function ofComments(counted: string, least: string, condition = ''): string {
  return `select c.workspace_id, c.issue_id, ${counted} as counted, ${least} as least
    from comment c left join ${imported('comment', condition)} s
      on s.workspace_id = c.workspace_id and s.target_id = c.id
    group by 1, 2`;
}

/** The same for other rows of an issue. All rows that were not imported with the issue must have an entry. */
function ofIssues(table: string, counted: string, by: { least: string } | { came: string }): string {
  const least = 'least' in by ? by.least : `${counted} - coalesce(max(s.came), 0)`;
  return `select r.workspace_id, r.issue_id, ${counted} as counted, ${least} as least
    from ${table} r left join ${importedWith('came' in by ? by.came : '')} s
      on s.workspace_id = r.workspace_id and s.target_id = r.issue_id
    group by 1, 2`;
}

/** Compares entries with the rows that `counted` selects. */
function compare(counted: string): (eventType: FeedEventType) => string {
  return (eventType) =>
    faultyIssues(
      `format('%s entries, %s writes', coalesce(f.counted, 0), coalesce(r.counted, 0))`,
      `left join (${counted}) r on ${onIssue('r')}
       left join ${entriesOf(eventType)} f on ${onIssue('f')}
       left join ${imported('issue')} o on o.workspace_id = i.workspace_id and o.target_id = i.id
       where coalesce(f.counted, 0) < coalesce(r.least, 0)
         or (o.target_id is null and coalesce(f.counted, 0) > coalesce(r.counted, 0))`,
    );
}
