/** All audited actions, with their meanings. */
export const auditActs = {
  'workspace.created': 'A workspace was created.',
  'access-token.created': 'An access token was created.',
  'access-token.revoked': 'An access token was revoked, directly or together with the token that created it.',
  'directory.created':
    'A directory file created a member, team, project or an object that belongs to one of them.',
  'directory.updated':
    'A directory file changed a member, team, project or an object that belongs to one of them. This includes the roles and statuses of members.',
  'webhook.created': 'A webhook was created.',
  'webhook.updated': 'A webhook was changed, or got a new secret.',
  'webhook.deleted': 'A webhook was deleted.',
  'webhook.pinged': 'A test message was sent to a webhook.',
  'webhook.redelivered': 'Messages to a webhook are sent again.',
  'webhook.disabled':
    'The service disabled a webhook, because deliveries failed for days or its member lost the right to read.',
  'import.started': 'An import started. The entry for its end has the number of created members.',
  'import.finished': 'An import ended.',
  'export.started': 'An export started.',
  'changes.reset': 'The log of changes started over: all its cursors expired.',
} as const;
export type AuditAct = keyof typeof auditActs;

/** The kinds of actors: a member with an access token, the operator with a command, or the service itself. */
export const auditActorKind = { member: 1, operator: 2, system: 3 } as const;
