import { codeTables, namedOnRest } from '../model/codes.ts';
import { events } from '../model/events.ts';
import { errorCodes } from '../resolvers/errors.ts';
import { builder } from './builder/builder.ts';

interface Code {
  name: string;
  code: number | null;
  description: string;
}

const CodeEntry = builder.objectRef<Code>('CodeEntry');
CodeEntry.implement({
  description: 'A value of a closed set.',
  scope: 'inherited',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the value; enums spell it in upper case.' }),
    code: t.exposeInt('code', {
      nullable: true,
      description:
        'The number that REST uses for the value, or the HTTP status of an error code; null if REST uses the name.',
    }),
    description: t.exposeString('description', {
      description: 'What the value means; empty if the name says it.',
    }),
  }),
});

export const CodeTable = builder.objectRef<{ name: string; entries: Code[] }>('CodeTable');
CodeTable.implement({
  description: 'A closed set of values.',
  scope: 'inherited',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The name of the field that has these values; `errorCode` for the error codes.',
    }),
    entries: t.expose('entries', {
      type: [CodeEntry],
      extensions: { rows: () => maxEntries },
      description: 'The values, in a fixed order.',
    }),
  }),
});

/** All code tables, and the error codes and the event types as further tables. */
export const allCodeTables = [
  ...Object.entries(codeTables).map(([name, codes]) => ({
    name,
    entries: Object.entries(codes).map(([entry, code]) => ({
      name: entry,
      code: namedOnRest.has(name) ? null : code,
      description: '',
    })),
  })),
  {
    name: 'errorCode',
    entries: Object.entries(errorCodes).map(([name, { status, meaning }]) => ({
      name,
      code: status,
      description: meaning,
    })),
  },
  {
    name: 'eventType',
    entries: Object.entries(events).map(([name, { meaning }]) => ({
      name,
      code: null,
      description: meaning,
    })),
  },
];

const maxEntries = Math.max(...allCodeTables.map(({ entries }) => entries.length));
