import { faultyIssues, onIssue, type Rule, type RuleCodes } from './rule.ts';

/** Rules about the counts of teams, projects, deliveries and agent threads, and about imported rows. */
export function directoryRules({ activeMember, activeProject, completed, canceled }: RuleCodes): Rule[] {
  return [
    {
      name: 'member_count of a team is the number of its active members',
      covers: ['team.member_count'],
      statement: `
        select t.workspace_id, t.code as key, format('member_count %s, counted %s', t.member_count, coalesce(m.counted, 0)) as detail
        from team t left join (select x.workspace_id, x.team_id, count(*) as counted from team_member x
          join member m on m.workspace_id = x.workspace_id and m.user_account_id = x.user_account_id
          where m.status = ${activeMember} group by 1, 2) m on m.workspace_id = t.workspace_id and m.team_id = t.id
        where t.member_count <> coalesce(m.counted, 0)`,
    },
    {
      name: 'active_project_count of a team is the number of its projects in an active state',
      covers: ['team.active_project_count'],
      statement: `
        select t.workspace_id, t.code as key,
          format('active_project_count %s, counted %s', t.active_project_count, coalesce(p.counted, 0)) as detail
        from team t left join (select workspace_id, team_id, count(*) as counted from project
          where state = ${activeProject} group by 1, 2) p on p.workspace_id = t.workspace_id and p.team_id = t.id
        where t.active_project_count <> coalesce(p.counted, 0)`,
    },
    {
      name: 'link_count of a project is the number of its links',
      covers: ['project.link_count'],
      statement: `
        select p.workspace_id, p.key, format('link_count %s, counted %s', p.link_count, coalesce(l.counted, 0)) as detail
        from project p left join (select workspace_id, project_id, count(*) as counted from project_link group by 1, 2) l
          on l.workspace_id = p.workspace_id and l.project_id = p.id
        where p.link_count <> coalesce(l.counted, 0)`,
    },
    {
      name: 'lead_display_name_fold of a project is the folded name of its lead',
      covers: ['project.lead_display_name_fold'],
      statement: `
        select p.workspace_id, p.key, format('lead_display_name_fold %L, the lead has %L',
          p.lead_display_name_fold, m.display_name_fold) as detail
        from project p left join member m on m.workspace_id = p.workspace_id and m.user_account_id = p.lead_user_account_id
        where p.lead_display_name_fold is distinct from m.display_name_fold`,
    },
    {
      name: 'counts of a delivery are those of its issues that are not deleted',
      covers: [
        'delivery_count.issue_count',
        'delivery_count.closed_issue_count',
        'delivery_count.estimated_scope',
        'delivery_count.closed_estimate',
      ],
      statement: `
        select d.workspace_id, t.code || ' ' || d.number as key,
          format('issues, closed, estimated, closed estimate: stored %s, counted %s', stored.numbers, counted.numbers) as detail
        from delivery d join team t on t.workspace_id = d.workspace_id and t.id = d.team_id
          left join (select workspace_id, delivery_id, (sum(issue_count)::bigint, sum(closed_issue_count)::bigint,
              sum(estimated_scope)::bigint, sum(closed_estimate)::bigint) as numbers from delivery_count group by 1, 2) stored
            on stored.workspace_id = d.workspace_id and stored.delivery_id = d.id
          left join (select i.workspace_id, i.delivery_id, (count(*), count(*) filter (where s.is_terminal),
              coalesce(sum(i.estimate_value), 0)::bigint,
              coalesce(sum(i.estimate_value) filter (where s.is_terminal), 0)::bigint) as numbers
            from issue i join status s on s.workspace_id = i.workspace_id and s.id = i.status_id
            where i.deleted_utc is null and i.delivery_id is not null group by 1, 2) counted
            on counted.workspace_id = d.workspace_id and counted.delivery_id = d.id
        where coalesce(stored.numbers, (0::bigint, 0::bigint, 0::bigint, 0::bigint))
          <> coalesce(counted.numbers, (0::bigint, 0::bigint, 0::bigint, 0::bigint))`,
    },
    {
      name: 'counts of a project are those of its issues that are neither deleted nor canceled',
      covers: ['project_count.issue_count', 'project_count.completed_issue_count'],
      statement: `
        select p.workspace_id, p.key,
          format('issues, completed: stored %s, counted %s', stored.numbers, counted.numbers) as detail
        from project p
          left join (select workspace_id, project_id, (sum(issue_count)::bigint, sum(completed_issue_count)::bigint) as numbers
            from project_count group by 1, 2) stored on stored.workspace_id = p.workspace_id and stored.project_id = p.id
          left join (select i.workspace_id, i.project_id, (count(*) filter (where s.category <> ${canceled}),
              count(*) filter (where s.category = ${completed})) as numbers
            from issue i join status s on s.workspace_id = i.workspace_id and s.id = i.status_id
            where i.deleted_utc is null and i.project_id is not null group by 1, 2) counted
            on counted.workspace_id = p.workspace_id and counted.project_id = p.id
        where coalesce(stored.numbers, (0::bigint, 0::bigint)) <> coalesce(counted.numbers, (0::bigint, 0::bigint))`,
    },
    {
      name: 'the counts, the last message and the turns of an agent thread are those of its messages',
      covers: ['agent_thread.message_count', 'agent_thread.last_message_utc'],
      statement: faultyIssues(
        `format('message_count %s, counted %s up to position %s; last message %s, newest %s',
          h.message_count, coalesce(m.counted, 0), coalesce(m.newest, 0), h.last_message_utc, m.at)`,
        `join agent_thread h on ${onIssue('h')}
         left join (select workspace_id, thread_id, count(*) as counted, max(sort_order) as newest, max(created_utc) as at,
             min(created_utc) as first, max(turn_number) as turn from agent_thread_message group by 1, 2) m
           on m.workspace_id = h.workspace_id and m.thread_id = h.id
         left join agent_thread_message last on last.workspace_id = h.workspace_id and last.thread_id = h.id
           and last.sort_order = h.message_count
         where h.message_count <> coalesce(m.counted, 0) or h.message_count <> coalesce(m.newest, 0)
           or h.last_message_utc is distinct from m.at or h.started_utc is distinct from m.first
           or h.current_turn_number is distinct from m.turn or h.last_completed_turn_number > h.current_turn_number
           or h.last_message_type is distinct from last.message_type
           or h.last_message_author_type is distinct from last.author_type`,
      ),
    },
    {
      name: 'a message is on the issue of its thread',
      statement: faultyIssues(
        `format('the message %s', m.id)`,
        `join agent_thread h on ${onIssue('h')}
         join agent_thread_message m on m.workspace_id = h.workspace_id and m.thread_id = h.id
         where m.issue_id <> h.issue_id`,
      ),
    },
    {
      name: 'each row that an import created exists, except purged issues',
      statement: `
        select s.workspace_id, s.source || ' ' || s.source_id as key,
          format('the %s %s does not exist', s.kind, s.target_id) as detail
        from import_source s
          left join issue i on s.kind = 'issue' and i.workspace_id = s.workspace_id and i.id = s.target_id
          left join comment c on s.kind = 'comment' and c.workspace_id = s.workspace_id and c.id = s.target_id
          left join member m on s.kind = 'member' and m.workspace_id = s.workspace_id and m.user_account_id = s.target_id
        where coalesce(i.id, c.id, m.id) is null and not s.record ? 'purged'`,
    },
  ];
}
