import type { Route } from './route.ts';
import { commentCreate, comments } from './routes/comments.ts';
import { issueCreate, issueUpdate } from './routes/issues.ts';
import { health, healthz, readyz } from './routes/probes.ts';
import { teamByCode, teams } from './routes/teams.ts';

/** Every endpoint of the REST face, in the order of the specification. */
export const table: readonly Route[] = [
  issueCreate,
  issueUpdate,
  comments,
  commentCreate,
  teams,
  teamByCode,
  health,
  healthz,
  readyz,
];
