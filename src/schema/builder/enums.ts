import { type CodeTable, codeTables, namedOnRest } from '../../model/codes.ts';
import { builder } from './builder.ts';

/**
 * An enum made from a code table. Its internal values are the stored codes. REST has the codes, and the names of
 * states.
 */
function codeEnum(name: string, table: CodeTable, description: string) {
  const values: Record<string, { value: number; description: string }> = Object.fromEntries(
    Object.entries(codeTables[table]).map(([code, value]) => {
      const shown = namedOnRest.has(table) ? code : value;
      const described = `${code.replaceAll('_', ' ')}; \`${shown}\` in REST.`;
      return [code.toUpperCase(), { value, description: described }];
    }),
  );
  return builder.enumType(name, {
    description,
    values,
    extensions: { codeTable: table },
  });
}

export const Priority = codeEnum('Priority', 'priority', 'The urgency of an issue or a project.');
export const PrincipalKind = codeEnum(
  'PrincipalKind',
  'principalKind',
  'The kind of an account: a person, an agent or a service.',
);
export const MemberRole = codeEnum('MemberRole', 'memberRole', 'What a member may do in the workspace.');
export const MemberStatus = codeEnum('MemberStatus', 'memberStatus', 'The status of a member.');
export const Provider = codeEnum('Provider', 'provider', 'A service that hosts repositories.');
export const PreviewKind = codeEnum(
  'PreviewKind',
  'previewKind',
  'How an attachment can be shown without downloading it.',
);
export const AuthorType = codeEnum(
  'AuthorType',
  'authorType',
  'The kind of author of a message of an agent thread.',
);
export const MessageType = codeEnum(
  'MessageType',
  'messageType',
  'The types of messages in an agent thread.',
);
export const ThreadStatus = codeEnum(
  'ThreadStatus',
  'threadStatus',
  'The status of an agent thread; it follows from its last message.',
);
export const StatusCategory = codeEnum(
  'StatusCategory',
  'statusCategory',
  'The fixed meaning of a configurable status. Completed and canceled are terminal.',
);
export const DeliveryState = codeEnum('DeliveryState', 'deliveryState', 'The states of a delivery.');
export const ProjectState = codeEnum('ProjectState', 'projectState', 'The states of a project.');
export const TeamState = codeEnum('TeamState', 'teamState', 'The states of a team.');

export const ChangeOrigin = codeEnum('ChangeOrigin', 'changeOrigin', 'What made a change.');

export const WebhookState = codeEnum(
  'WebhookState',
  'webhookState',
  'Whether messages are sent to a webhook: as changes happen, with pauses after failures, or not at all.',
);
export const WebhookDeliveryState = codeEnum(
  'WebhookDeliveryState',
  'webhookDeliveryState',
  'Whether a message has reached its webhook.',
);

export const SortDirection = builder.enumType('SortDirection', {
  description: 'The direction of an order. Rows without a value come last in both directions.',
  values: {
    ASC: {
      value: 'asc',
      description: 'Ascending: the smallest, the earliest or the alphabetically first comes first.',
    },
    DESC: {
      value: 'desc',
      description: 'Descending: the largest, the latest or the alphabetically last comes first.',
    },
  } as const,
});
