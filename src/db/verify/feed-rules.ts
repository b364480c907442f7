import { countedByIssue, faultyIssues, onIssue, type Rule, type RuleCodes } from './rule.ts';

/**
 * The feed of an issue: its places, its order, and one entry for each write that it lists. The feed of an imported issue
 * is what its source gave: it may lack entries for what came with the issue, and tell of things that did not come.
 */
export function feedRules({ eventTypes }: RuleCodes): Rule[] {
  return [
    {
      name: 'places in a feed go from 1 to activity_count without gaps, the last at last_activity_utc',
      covers: ['issue.activity_count', 'issue.last_activity_utc'],
      statement: faultyIssues(
        `format('activity_count %s, counted %s up to place %s; last_activity_utc %s, newest %s',
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
        `format('the entry at place %s is older than the one before it', f.sort_order)`,
        `join (select workspace_id, issue_id, sort_order, occurred_utc,
             lag(occurred_utc) over (partition by workspace_id, issue_id order by sort_order) as before from activity) f
           on ${onIssue('f')}
         where f.occurred_utc < f.before`,
      ),
    },
    {
      name: 'entries of a feed are of a known kind',
      statement: faultyIssues(
        `format('%s at place %s', f.event_type, f.sort_order)`,
        `join activity f on ${onIssue('f')} where f.event_type not in (${eventTypes.map((type) => `'${type}'`).join(', ')})`,
      ),
    },
    entriesRule(
      'each comment has its entry, but for imported ones',
      'issue-comment.created.v1',
      ofComments('count(*)', 'count(*) filter (where s.target_id is null)'),
    ),
    entriesRule(
      'each deleted comment has the entry of its deletion, but for those that came deleted',
      'issue-comment.deleted.v1',
      ofComments(
        'count(c.deleted_utc)',
        `count(c.deleted_utc) filter (where s.target_id is null)`,
        `and record ->> 'deleted' = 'true'`,
      ),
    ),
    entriesRule(
      'each edit of a comment has its entry, but for imported comments',
      'issue-comment.updated.v1',
      ofComments(edits, `${edits} filter (where s.target_id is null)`),
    ),
    entriesRule(
      'each link has its entry, but for those of imported issues',
      'issue-link.created.v1',
      ofIssues('issue_link', 'count(*)', { least: 'count(*) filter (where s.target_id is null)' }),
    ),
    entriesRule(
      'each deleted link has the entry of its deletion, but for those that came deleted',
      'issue-link.deleted.v1',
      ofIssues('issue_link', 'count(r.deleted_utc)', { came: 'deletedLinks' }),
    ),
    entriesRule(
      'each message to or from an agent has its entry, but for imported ones',
      'agent-message.created.v1',
      ofIssues('agent_thread_message', 'count(*)', { came: 'messages' }),
    ),
    {
      name: 'each attachment has its entry, but for imported ones',
      // Of deleted ones the entry is all that stays.
      statement: faultyIssues(
        `format('%s attachments, %s entries', a.counted, coalesce(f.counted, 0))`,
        `join ${countedByIssue('attachment', 'uploaded_utc is not null')} a on ${onIssue('a')}
         left join ${entriesOf('issue-attachment.created.v1')} f on ${onIssue('f')}
         left join ${cameWith('attachments')} s on s.workspace_id = i.workspace_id and s.target_id = i.id
         where coalesce(f.counted, 0) < a.counted - coalesce(s.came, 0)`,
      ),
    },
    {
      name: 'an update of an issue is counted once by its revision and has one entry, at updated_utc',
      // Deletions, restorations and imports are revisions too. An imported issue was last updated by its source.
      statement: faultyIssues(
        `format('revision %s, %s entries; updated_utc %s, newest entry %s',
          i.revision, coalesce(f.counted, 0), i.updated_utc, f.newest)`,
        `left join ${entriesOf('issue.updated.v1', ', max(occurred_utc) as newest')} f on ${onIssue('f')}
         left join ${imported('issue')} s
           on s.workspace_id = i.workspace_id and s.target_id = i.id
         where coalesce(f.counted, 0) > i.revision - 1
           or (s.target_id is null and i.updated_utc <> coalesce(f.newest, i.created_utc))`,
      ),
    },
  ];
}

function entriesOf(eventType: string, more = ''): string {
  return countedByIssue('activity', `event_type = '${eventType}'`, more);
}

/** What imports have made, each once. */
function imported(kind: string, condition = ''): string {
  return `(select distinct workspace_id, target_id from import_source where kind = '${kind}' ${condition})`;
}

/** Imported issues, and how many things of a kind came with each: their feeds need not tell of those. */
function cameWith(what: string): string {
  return `(select workspace_id, target_id, max((record -> 'came' ->> '${what}')::int) as came
    from import_source where kind = 'issue' group by 1, 2)`;
}

/** How often comments were edited. */
const edits = 'sum(c.revision - 1 - (c.deleted_utc is not null)::int)';

/** Counts something of the comments of issues, and the least of it that the feed tells of; `s` is what was imported. */
function ofComments(counted: string, least: string, condition = ''): string {
  return `select c.workspace_id, c.issue_id, ${counted} as counted, ${least} as least
    from comment c left join ${imported('comment', condition)} s
      on s.workspace_id = c.workspace_id and s.target_id = c.id
    group by 1, 2`;
}

/** The same rule for other rows of an issue: at least as many entries as given, or as rows that did not come with an import. */
function ofIssues(table: string, counted: string, by: { least: string } | { came: string }): string {
  const least = 'least' in by ? by.least : `${counted} - coalesce(max(s.came), 0)`;
  return `select r.workspace_id, r.issue_id, ${counted} as counted, ${least} as least
    from ${table} r left join ${cameWith('came' in by ? by.came : '')} s
      on s.workspace_id = r.workspace_id and s.target_id = r.issue_id
    group by 1, 2`;
}

/** Compares entries of a kind with the rows that they tell of, which `counted` counts by issue with `least`. */
function entriesRule(name: string, eventType: string, counted: string): Rule {
  return {
    name,
    statement: faultyIssues(
      `format('%s entries, %s writes', coalesce(f.counted, 0), coalesce(r.counted, 0))`,
      `left join (${counted}) r on ${onIssue('r')}
       left join ${entriesOf(eventType)} f on ${onIssue('f')}
       left join ${imported('issue')} o on o.workspace_id = i.workspace_id and o.target_id = i.id
       where coalesce(f.counted, 0) < coalesce(r.least, 0)
         or (o.target_id is null and coalesce(f.counted, 0) > coalesce(r.counted, 0))`,
    ),
  };
}
