import type { CodesQuery } from '../operations.generated.ts';
import { integer, nullable, objects, type Shape, shape, text } from '../shape.ts';

type CodeTable = CodesQuery['codes'][number];
type CodeEntry = CodeTable['entries'][number];

const codeEntry: Shape<CodeEntry> = shape('CodeEntry', {
  name: text((entry) => entry.name),
  code: nullable(
    integer(
      (entry) => entry.code,
      'The number that stands for it here; null where the name does. Of an error its HTTP status.',
    ),
  ),
  description: text((entry) => entry.description),
});

const codeTable: Shape<CodeTable> = shape('CodeTable', {
  name: text((table) => table.name, 'The field whose values these are; `errorCode` for the codes of errors.'),
  entries: objects(codeEntry, (table) => table.entries),
});

/** All closed sets of values. */
export const codeTables: Shape<CodesQuery> = shape('CodeTables', {
  tables: objects(codeTable, (data) => data.codes),
});

/** What a code of an error means. */
export const errorCode: Shape<CodeEntry> = shape('ErrorCode', {
  code: text((entry) => entry.name),
  status: integer((entry) => entry.code ?? 500, 'The HTTP status that it is answered with.'),
  description: text((entry) => entry.description),
});
