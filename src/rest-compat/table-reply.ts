import type { JsonSchema } from './json-schema.ts';
import type { Reply } from './reply.ts';
import type { Shape } from './shape.ts';
import { oneOf } from './values.ts';

/** The parameter of routes that answer with a table. */
export const tableFormat = {
  format: oneOf<'json' | 'csv'>(
    { json: 'json', csv: 'csv' },
    'The form of the answer; by default the one that `Accept` prefers, JSON where it does not say.',
  ),
} as const;

interface Rows<Row> {
  readonly historySinceUtc?: string | null;
  readonly rows: readonly Row[];
}

/** 200 with all rows, as JSON or as CSV. `mostRows` is how many there can be. */
export function tableOf<Row>(
  of: Shape<Row>,
  { mostRows, history }: { mostRows: number; history: boolean },
): Reply<Rows<Row>, { readonly format: 'json' | 'csv' | undefined }> {
  const since: JsonSchema = {
    type: ['string', 'null'],
    format: 'date-time',
    maxLength: '2026-01-31T12:00:00.000Z'.length,
    description: 'Since when the history of the issues is complete; null if it always was.',
  };
  const schema: JsonSchema = {
    title: `${of.schema.title}Table`,
    type: 'object',
    properties: {
      ...(history && { historySinceUtc: since }),
      results: { type: 'array', items: of.schema, maxItems: mostRows },
    },
    required: [...(history ? ['historySinceUtc'] : []), 'results'],
  };
  return {
    successes: [
      {
        status: 200,
        description: 'All rows, as JSON or, without `historySinceUtc`, as CSV with a line of names.',
        schema,
        isTable: true,
      },
    ],
    render: ({ rows, historySinceUtc = null }, { format }) => {
      const results = rows.map(of.render);
      return {
        status: 200,
        body: { ...(history && { historySinceUtc }), results },
        table: { columns: of.fields.map(([name]) => name), rows: results, format },
      };
    },
  };
}
