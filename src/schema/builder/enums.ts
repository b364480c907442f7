import { type CodeTable, codeTables } from '../../model/codes.ts';
import { builder } from './builder.ts';

/** An enum over a code table: its values are the codes that SQL stores. REST shows codes, of states the names. */
function codeEnum(name: string, table: CodeTable, description: string, onRest: 'code' | 'name' = 'code') {
  const values: Record<string, { value: number; description: string }> = Object.fromEntries(
    Object.entries(codeTables[table]).map(([code, value]) => {
      const shown = onRest === 'name' ? code : value;
      const described = `${code.replaceAll('_', ' ')}; \`${shown}\` on REST.`;
      return [code.toUpperCase(), { value, description: described }];
    }),
  );
  return builder.enumType(name, {
    description,
    values,
    extensions: { codeTable: table },
  });
}

export const Priority = codeEnum('Priority', 'priority', 'How urgent an issue or project is.');
export const PrincipalKind = codeEnum('PrincipalKind', 'principalKind', 'What stands behind an account.');
export const MemberRole = codeEnum('MemberRole', 'memberRole', 'What a member may do in the workspace.');
export const MemberStatus = codeEnum('MemberStatus', 'memberStatus', 'Whether a member takes part.');
export const Provider = codeEnum('Provider', 'provider', 'Where a repository is hosted.');
export const PreviewKind = codeEnum(
  'PreviewKind',
  'previewKind',
  'How an attachment can be shown without downloading it.',
);
export const AuthorType = codeEnum('AuthorType', 'authorType', 'Who wrote a message of an agent thread.');
export const MessageType = codeEnum('MessageType', 'messageType', 'What a message of an agent thread is.');
export const ThreadStatus = codeEnum(
  'ThreadStatus',
  'threadStatus',
  'Where an agent thread stands; follows from its last message.',
);
export const StatusCategory = codeEnum(
  'StatusCategory',
  'statusCategory',
  'What a configurable status means; completed and canceled are terminal.',
  'name',
);
export const DeliveryState = codeEnum('DeliveryState', 'deliveryState', 'Where a delivery stands.', 'name');
export const ProjectState = codeEnum('ProjectState', 'projectState', 'Where a project stands.', 'name');
export const TeamState = codeEnum('TeamState', 'teamState', 'Whether a team is at work.', 'name');

export const SortDirection = builder.enumType('SortDirection', {
  description: 'The direction of an order. What has no value comes last in both.',
  values: {
    ASC: { value: 'asc', description: 'Smallest, earliest or first in the alphabet first.' },
    DESC: { value: 'desc', description: 'Largest, latest or last in the alphabet first.' },
  } as const,
});
