import { limits } from '../../model/limits.ts';
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
        'The number that REST uses for the value, or the HTTP status of an error code; null if REST uses the name.',
    }),
  ),
  description: text(limits.summary, 'description'),
});

const maxEntries = Math.max(...allCodeTables.map(({ entries }) => entries.length));

const codeTable: Shape<CodeTable> = shape('CodeTable', {
  name: text(limits.name, 'name', {
    description: 'The name of the field that has these values; `errorCode` for the error codes.',
  }),
  entries: objects(codeEntry, maxEntries, 'entries'),
});

/** All closed sets of values. */
export const codeTables: Shape<CodesQuery> = shape('CodeTables', {
  tables: objects(codeTable, allCodeTables.length, 'codes'),
});

/** The meaning of an error code. */
export const errorCode: Shape<CodeEntry> = shape('ErrorCode', {
  code: text(limits.name, 'name'),
  status: integer('code', { ifNull: 500, description: 'The HTTP status of responses with this code.' }),
  description: text(limits.summary, 'description'),
});
