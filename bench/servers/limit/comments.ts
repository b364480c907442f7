import { idSql } from './ids.ts';
import { object, timestamp } from './json.ts';

/**
 * W6. $2 the viewer's account, $3 whether the viewer may manage all comments, $4 team code, $5 number, $6 maximum
 * number of rows.
 */
export const commentsOfIssue = `
with found as materialized (
  select i.id from issue i join team t on t.workspace_id = $1 and t.id = i.team_id
  where i.workspace_id = $1 and t.code = $4 and i.number = $5 and i.deleted_utc is null)
select (select count(*) from comment c where c.workspace_id = $1 and c.issue_id = found.id and c.deleted_utc is null)::int as total,
  (select coalesce(json_agg(row_to_json(x)), '[]') from (
    select ${idSql('comment', 'c.id')} as id, coalesce(${idSql('comment', 'c.parent_comment_id')}, '') as "parentCommentId",
      ${idSql('user', 'c.author_user_account_id')} as "authorUserAccountId", m.display_name as "authorDisplayName",
      coalesce(m.avatar_url, '') as "authorAvatarUrl", coalesce(pa.display_name, '') as "parentAuthorDisplayName",
      ${richText('c.body')} as body, $3::boolean or c.author_user_account_id = $2 as "canManage", c.is_edited as "isEdited",
      ${timestamp('c.created_utc')} as "createdUtc", ${timestamp('c.updated_utc')} as "updatedUtc"
    from (select * from comment where workspace_id = $1 and issue_id = found.id and deleted_utc is null
          order by created_utc, id limit $6) c
    join member m on m.workspace_id = $1 and m.user_account_id = c.author_user_account_id
    left join member pa on pa.workspace_id = $1 and pa.user_account_id = c.parent_author_user_account_id
    order by c.created_utc, c.id) x)::text as results,
  (select ${timestamp('created_utc')} || '/' || id from comment
   where workspace_id = $1 and issue_id = found.id and deleted_utc is null order by created_utc, id offset $6::int - 1 limit 1) as last
from found`;

/** SQL that converts plain text to the specification's RichText, with a paragraph for each line. */
function richText(column: string): string {
  const line = `'{"type":"paragraph","content":' || case when part = '' then '[]' else '[{"type":"text","text":' || to_json(part)::text || '}]' end || '}'`;
  const lines = `select string_agg(${line}, ',') from regexp_split_to_table(${column}, '\\r\\n|\\r|\\n') part`;
  const single = `'{"type":"paragraph","content":[{"type":"text","text":' || to_json(${column})::text || '}]}'`;
  return `('{"schemaVersion":1,"content":{"type":"doc","content":['
    || case when ${column} !~ '[\\r\\n]' then ${single} else (${lines}) end || ']}}')::json`;
}

/**
 * W5 in one statement. $2 author, $3 team code, $4 number, $5 body, $6 id of the comment, $7 id of the feed entry, $8
 * the author's name. A statement that waits for the issue's row continues with the values that the previous one wrote.
 */
export const commentCreate = `
with changed as (
  update issue i set comment_count = i.comment_count + 1, activity_count = i.activity_count + 1, revision = i.revision + 1,
    last_comment_utc = greatest(i.last_activity_utc, clock_timestamp()),
    last_activity_utc = greatest(i.last_activity_utc, clock_timestamp())
  from team t
  where t.workspace_id = $1 and t.code = $3 and i.workspace_id = $1 and i.team_id = t.id and i.number = $4
    and i.deleted_utc is null
  returning i.id, i.activity_count, i.last_activity_utc),
written as (
  insert into comment (workspace_id, id, issue_id, author_user_account_id, body, created_utc, updated_utc)
  select $1, $6, id, $2, $5, last_activity_utc, last_activity_utc from changed returning *),
entered as (
  insert into activity (workspace_id, issue_id, sort_order, id, event_type, actor_user_account_id, occurred_utc, icon_css, text)
  select $1, id, activity_count, $7, 'issue-comment.created.v1', $2, last_activity_utc, 'icon-comment', $8 || ' commented' from changed),
subscribed as (
  insert into issue_subscription (workspace_id, issue_id, user_account_id) select $1, id, $2 from changed on conflict do nothing)
select '{"data":{"commentCreate":{"comment":' || row_to_json(x)::text || '}}}' from (
  select ${idSql('comment', 'c.id')} as id, ${idSql('comment', 'c.parent_comment_id')} as "parentCommentId",
    ${idSql('user', 'c.author_user_account_id')} as "authorUserAccountId",
    ${object('m.display_name as "displayName", m.avatar_url as "avatarUrl"')} as author, null as "parentAuthorDisplayName",
    ${richText('c.body')} as body, true as "canManage", c.is_edited as "isEdited",
    ${timestamp('c.created_utc')} as "createdUtc", ${timestamp('c.updated_utc')} as "updatedUtc"
  from written c join member m on m.workspace_id = $1 and m.user_account_id = c.author_user_account_id) x`;
