import { limits } from '../../schema/builder/limits.ts';
import { allCodeTables } from '../../schema/codes.ts';
import type { CodesQuery } from '../operations.generated.ts';
import { integer, nullable, objects, type Shape, shape, text } from '../shape.ts';

type CodeTable = CodesQuery['codes'][number];
type CodeEntry = CodeTable['entries'][number];

const codeEntry: Shape<CodeEntry> = shape('CodeEntry', {
  name: text(limits.name, 'name'),
  code: nullable(
    integer('code', {
      description:
        'The number that stands for it here; null where the name does. Of an error its HTTP status.',
    }),
  ),
  description: text(limits.summary, 'description'),
});

const mostEntries = Math.max(...allCodeTables.map(({ entries }) => entries.length));

const codeTable: Shape<CodeTable> = shape('CodeTable', {
  name: text(limits.name, 'name', {
    description: 'The field whose values these are; `errorCode` for the codes of errors.',
  }),
  entries: objects(codeEntry, mostEntries, 'entries'),
});

/** All closed sets of values. */
export const codeTables: Shape<CodesQuery> = shape('CodeTables', {
  tables: objects(codeTable, allCodeTables.length, 'codes'),
});

/** What a code of an error means. */
export const errorCode: Shape<CodeEntry> = shape('ErrorCode', {
  code: text(limits.name, 'name'),
  status: integer('code', { absent: 500, description: 'The HTTP status that it is answered with.' }),
  description: text(limits.summary, 'description'),
});
