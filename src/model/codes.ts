/**
 * The numeric codes of REST, which are enums in GraphQL (docs/contract.md, "Code tables"). The enums,
 * `/v1/meta/codes`, the orders of lists and the rules all read this registry.
 */
export const codeTables = {
  priority: { none: 0, urgent: 1, high: 2, medium: 3, low: 4 },
  principalKind: { nobody: 0, user: 1, agent: 2, service: 3 },
  memberRole: { owner: 1, admin: 2, member: 3, guest: 4 },
  memberStatus: { invited: 1, active: 2, suspended: 3, removed: 4 },
  provider: { github: 1, azure_devops: 2 },
  previewKind: { none: 0, image: 1, text: 2, code: 3, pdf: 4 },
  authorType: { user: 1, agent: 2, system: 3 },
  messageType: { prompt: 1, thought: 2, action: 3, elicitation: 4, response: 5, error: 6 },
  threadStatus: { pending: 0, active: 1, awaiting_input: 2, completed: 3, failed: 4, stale: 5 },
  statusCategory: { backlog: 1, open: 2, active: 3, completed: 4, canceled: 5 },
  deliveryState: { planned: 1, active: 2, completed: 3 },
  projectState: { planned: 1, active: 2, paused: 3, completed: 4, canceled: 5 },
  teamState: { active: 1, inactive: 2, archived: 3 },
  changeOrigin: { request: 1, import: 2, command: 3, system: 4 },
  webhookState: { active: 1, backing_off: 2, disabled: 3 },
  webhookDeliveryState: { waiting: 1, delivered: 2, failed: 3 },
} as const satisfies Record<string, Record<string, number>>;

export type CodeTable = keyof typeof codeTables;

/** The tables whose values REST shows by their names, not their codes (specification, "States and transitions"). */
export const namedOnRest: ReadonlySet<string> = new Set<CodeTable>([
  'statusCategory',
  'deliveryState',
  'projectState',
  'teamState',
  'changeOrigin',
  'webhookState',
  'webhookDeliveryState',
]);

/**
 * The rank of a status is its category times this number, plus its position (the generated column `rank` of statuses).
 */
export const ranksPerCategory = 10_000;

/** The rank of a priority, by which lists are ordered: the column that stores it, and how it is computed. */
export const priorityRank = {
  column: 'priorityRank',
  of: (priority: number) => (priority + 4) % 5,
} as const;

export const {
  principalKind,
  memberRole,
  memberStatus,
  authorType,
  messageType,
  threadStatus,
  statusCategory,
  projectState,
  teamState,
  changeOrigin,
  webhookState,
  webhookDeliveryState,
  deliveryState,
  previewKind,
  provider,
  priority,
} = codeTables;
