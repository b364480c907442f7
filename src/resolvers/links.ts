import { createHash } from 'node:crypto';
import type { IssueRow } from '../db/issues.ts';
import { markLinkDeleted, insertLink, selectEquivalentLink, selectLink } from '../db/links.ts';
import type { Row } from '../db/tables/tables.ts';
import type { Trx } from '../db/engine/transaction.ts';
import { type ActivityActor, activityActorOf, recordActivity } from './activity.ts';
import type { Context } from './context.ts';
import { Violations } from './errors.ts';
import { newUuid } from './ids.ts';
import { parseTitle } from './issues/issue-input.ts';
import { lockIssueOf, lockExistingIssue } from './issues/issue-locks.ts';
import { raiseIssueGone, requireIssue } from './issues/issue-names.ts';
import { raiseNotFound } from './not-found.ts';
import { parseUrl } from './link-urls.ts';
import { requireResourceRevision, type RevisedResource } from './writes/revisions.ts';
import { requireContributor } from './writes/write-access.ts';
import { serialKeys } from './writes/serial-queue.ts';
import { write } from './writes/write-transaction.ts';

export interface IssueLinkCreateInput {
  /** A key or an id. */
  issueKey: string;
  url: string;
  title: string;
}

/** A link and its issue after the write. `created` is false if the issue already had an equivalent link. */
export interface WrittenLink {
  issueLink: Row<'issueLink'>;
  issue: IssueRow;
  created: boolean;
}

/** Adds a link to an issue. If the issue already has an equivalent link, returns that one. */
export async function createLink(ctx: Context, input: IssueLinkCreateInput): Promise<WrittenLink> {
  const context = requireContributor(ctx);
  const { principal } = context;
  const violations = new Violations();
  const title = parseTitle(violations, input.title);
  const { url, normalized } = parseUrl(violations, 'url', input.url);
  violations.throwIfAny();
  const urlHash = createHash('sha256').update(normalized).digest();
  return write(context, serialKeys.issue(principal.workspaceId, input.issueKey), (trx) =>
    insert(trx, activityActorOf(context), input.issueKey, { url, urlHash, title }),
  );
}

/** Deletes a link. */
export async function deleteLink(
  ctx: Context,
  input: RevisedResource,
): Promise<{ id: string; issue: IssueRow }> {
  const context = requireContributor(ctx);
  return write(context, undefined, async (trx) => {
    const { resource, issue, nowUtc } = await lockIssueOf(trx, 'link', input, selectLink);
    await requireResourceRevision(trx, 'link', resource, input.expectedRevision);
    const issueLink = (await markLinkDeleted(trx, resource.id, nowUtc)) ?? raiseNotFound('link');
    const activity = {
      eventType: 'issue-link.deleted.v1',
      activityText: `removed the link “${issueLink.title}”`,
      subject: issueLink.id,
    } as const;
    const columns = { linkCount: issue.linkCount - 1 };
    const changed = await recordActivity(trx, activityActorOf(context), issue.id, nowUtc, activity, columns);
    return { id: issueLink.id, issue: changed ?? raiseIssueGone() };
  });
}

async function insert(
  trx: Trx,
  actor: ActivityActor,
  issueKey: string,
  link: Pick<Row<'issueLink'>, 'url' | 'urlHash' | 'title'>,
): Promise<WrittenLink> {
  const { id: issueId } = await requireIssue(trx, issueKey);
  // The lock of the issue prevents adding the same link at the same time. A unique index is a second safeguard.
  const { issue, nowUtc } = await lockExistingIssue(trx, issueId);
  const issueLink = await insertLink(trx, {
    id: newUuid(nowUtc.getTime()),
    issueId,
    ...link,
    createdUtc: nowUtc,
    createdByUserAccountId: actor.userAccountId,
  });
  if (!issueLink) {
    const existing = await selectEquivalentLink(trx, issueId, link.urlHash);
    return { issueLink: existing ?? raiseNotFound('link'), issue, created: false };
  }
  const activity = {
    eventType: 'issue-link.created.v1',
    activityText: `added the link “${link.title}”`,
    subject: issueLink.id,
  } as const;
  const columns = { linkCount: issue.linkCount + 1 };
  const changed = await recordActivity(trx, actor, issueId, nowUtc, activity, columns);
  return { issueLink, issue: changed ?? raiseIssueGone(), created: true };
}
