import type { JsonSchema } from './json-schema.ts';
import type { Reply } from './replies.ts';
import type { Shape } from './shape.ts';
import { oneOf } from './values.ts';

/** The parameter of routes that answer with a table. */
export const tableFormat = {
  format: oneOf<'json' | 'csv'>(
    { json: 'json', csv: 'csv' },
    'The format of the response; by default the one that `Accept` prefers (of equal weights, the one that is named, or named first), or JSON if it prefers neither.',
  ),
} as const;

interface Rows<Row> {
  readonly historySinceUtc?: string | null;
  readonly rows: readonly Row[];
}

/** 200 with all rows, as JSON or as CSV. */
export function tableOf<Row>(
  rowShape: Shape<Row>,
  { maxRows, history: hasHistory }: { maxRows: number; history: boolean },
): Reply<Rows<Row>, { readonly format: 'json' | 'csv' | undefined }> {
  const since: JsonSchema = {
    type: ['string', 'null'],
    format: 'date-time',
    maxLength: '2026-01-31T12:00:00.000Z'.length,
    description:
      'The time from which the history of the issues is complete; null if it is complete from the beginning.',
  };
  const schema: JsonSchema = {
    title: `${rowShape.schema.title}Table`,
    type: 'object',
    properties: {
      ...(hasHistory && { historySinceUtc: since }),
      results: { type: 'array', items: rowShape.schema, maxItems: maxRows },
    },
    required: [...(hasHistory ? ['historySinceUtc'] : []), 'results'],
  };
  return {
    successes: [
      {
        status: 200,
        description: 'All rows, as JSON or, without `historySinceUtc`, as CSV with a header line.',
        schema,
        hasCsv: true,
      },
    ],
    render: ({ rows, historySinceUtc = null }, { format }) => {
      const results = rows.map(rowShape.render);
      return {
        status: 200,
        body: { ...(hasHistory && { historySinceUtc }), results },
        table: { columns: rowShape.fields.map(([name]) => name), rows: results, format },
      };
    },
  };
}
