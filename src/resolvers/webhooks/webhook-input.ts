import { selectKnownTeams } from '../../db/reads/team-references.ts';
import type { WebhookChange } from '../../db/webhooks.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { webhookState } from '../../model/codes.ts';
import { events, eventTypes, isEventType } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import type { Principal } from '../context.ts';
import type { Violations } from '../errors.ts';
import { checkText, uuidOf } from '../writes/write-rules.ts';
import type { WebhookTargets } from './targets.ts';

/** The settings of a webhook that a client may change. */
export interface WebhookFields {
  url?: string | null | undefined;
  description?: string | null | undefined;
  eventTypes?: readonly string[] | null | undefined;
  teamId?: string | null | undefined;
  hasImports?: boolean | null | undefined;
  state?: number | null | undefined;
}

/**
 * Converts the fields that are set to columns, and adds a violation for each invalid one. Null for a team means all
 * teams.
 */
export function readWebhookFields(
  violations: Violations,
  { url, description, eventTypes: types, teamId, hasImports, state }: WebhookFields,
  { targets, principal }: { targets: WebhookTargets; principal: Principal },
): WebhookChange {
  // A token may be allowed to manage webhooks and still not to read the events that they send.
  violations.addUnless(
    principal.scopes.has('issues:read'),
    'eventTypes',
    'include events of issues, so the token also needs the scope issues:read',
  );
  if (url != null) targets.check(violations, 'url', url);
  if (description != null) checkText(violations, 'description', description, { min: 0, max: limits.summary });
  if (types) checkEventTypes(violations, types, principal);
  if (state != null)
    violations.addUnless(
      state !== webhookState.backing_off,
      'state',
      'can be set to ACTIVE or DISABLED only',
    );
  return {
    ...(url != null && { url }),
    ...(description != null && { description }),
    ...(types && { eventTypes: [...new Set(types)] }),
    ...(teamId !== undefined && {
      teamId: teamId === null ? null : (uuidOf(violations, 'teamId', 'team', teamId) ?? null),
    }),
    ...(hasImports != null && { hasImports }),
    ...(state != null && { state }),
  };
}

function checkEventTypes(violations: Violations, types: readonly string[], { scopes }: Principal): void {
  violations.addUnless(
    types.length <= eventTypes.length,
    'eventTypes',
    `must have at most ${eventTypes.length} items`,
  );
  for (const [index, type] of types.slice(0, eventTypes.length).entries()) {
    if (!isEventType(type)) {
      violations.add('eventTypes', `item ${index + 1} is not a type of event; /v1/meta/codes lists them`);
      continue;
    }
    const { scope } = events[type];
    violations.addUnless(
      scope === 'token' || scopes.has(scope),
      'eventTypes',
      `item ${index + 1} needs the scope ${scope}, which the token lacks`,
    );
  }
}

/** Adds a violation for a team that is not in the workspace. */
export async function checkTeam(
  trx: Trx,
  violations: Violations,
  teamId: string | null | undefined,
): Promise<void> {
  if (!teamId) return;
  const known = await selectKnownTeams(trx, { codes: [], ids: [teamId] });
  violations.addUnless(known.length > 0, 'teamId', 'must be a team of the workspace');
}
