import type { Route } from './route.ts';
import { activity } from './routes/activity.ts';
import { changes } from './routes/changes.ts';
import { messageCreate, thread, threadMessages } from './routes/agent-threads.ts';
import {
  attachmentById,
  attachmentContent,
  attachmentCreate,
  attachmentPreview,
  attachments,
} from './routes/attachments.ts';
import { commentById, commentCreate, commentDelete, comments, commentUpdate } from './routes/comments.ts';
import { issueByKey, issues } from './routes/issue-reads.ts';
import { issueCreate, issueDelete, issueUpdate } from './routes/issues.ts';
import { linkCreate, linkDelete, links } from './routes/links.ts';
import { memberById, members } from './routes/members.ts';
import { metaCodes, metaError } from './routes/meta.ts';
import { health, healthz, readyz } from './routes/probes.ts';
import { projectByKey, projectLinks, projects } from './routes/projects.ts';
import { defaultRepository, repositories } from './routes/repositories.ts';
import { stats, statsFlow, statsTrend } from './routes/stats.ts';
import { subIssues } from './routes/sub-issues.ts';
import { teamByCode, teams } from './routes/teams.ts';

import {
  webhookById,
  webhookCreate,
  webhookDelete,
  webhookDeliveries,
  webhookPing,
  webhookRedeliver,
  webhookRotateSecret,
  webhooks,
  webhookUpdate,
} from './routes/webhooks.ts';

/** The endpoints of the specification, in its order. */
export const specified: readonly Route[] = [
  issueCreate,
  issueUpdate,
  issueDelete,
  activity,
  attachments,
  attachmentById,
  attachmentContent,
  attachmentPreview,
  links,
  subIssues,
  comments,
  commentById,
  thread,
  threadMessages,
  linkCreate,
  linkDelete,
  commentCreate,
  commentUpdate,
  commentDelete,
  messageCreate,
  teams,
  teamByCode,
  repositories,
  defaultRepository,
  projects,
  projectByKey,
  projectLinks,
  members,
  memberById,
  health,
  healthz,
  readyz,
];

/** Endpoints that clients expect and the specification does not mention. */
export const additions: readonly Route[] = [
  issues,
  issueByKey,
  attachmentCreate,
  changes,
  stats,
  statsTrend,
  statsFlow,
  webhooks,
  webhookCreate,
  webhookById,
  webhookUpdate,
  webhookDelete,
  webhookPing,
  webhookRotateSecret,
  webhookDeliveries,
  webhookRedeliver,
  metaCodes,
  metaError,
];

/** Every endpoint of the REST layer. */
export const routeTable: readonly Route[] = [...specified, ...additions];
