import { codeTables } from '../model/codes.ts';
import { errorCodes } from '../resolvers/errors.ts';
import { builder } from './builder/builder.ts';

interface Code {
  name: string;
  code: number | null;
  description: string;
}

const CodeEntry = builder.objectRef<Code>('CodeEntry');
CodeEntry.implement({
  description: 'One value of a closed set.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name; enums spell it in upper case.' }),
    code: t.exposeInt('code', {
      nullable: true,
      description:
        'The number that REST shows for it, or the HTTP status of an error code; null where REST shows the name.',
    }),
    description: t.exposeString('description', {
      description: 'What it means; empty when the name says it.',
    }),
  }),
});

export const CodeTable = builder.objectRef<{ name: string; entries: Code[] }>('CodeTable');
CodeTable.implement({
  description: 'A closed set of values.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The field whose values these are; `errorCode` for the codes of errors.',
    }),
    entries: t.expose('entries', {
      type: [CodeEntry],
      extensions: { rows: () => mostEntries },
      description: 'The values, in their order.',
    }),
  }),
});

// On REST states and categories are names, not numbers (specification, "States and transitions").
const namedOnRest = new Set(['statusCategory', 'deliveryState', 'projectState', 'teamState']);

/** Every code table, and the registry of error codes as one more. */
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
];

const mostEntries = Math.max(...allCodeTables.map(({ entries }) => entries.length));
