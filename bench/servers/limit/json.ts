// Building blocks of the statements. `row_to_json` of a subselect writes compact JSON and is the fastest way;
// `json_build_object` adds spaces and processes its names for each row.

export const object = (columns: string) => `(select row_to_json(o) from (select ${columns}) o)`;

export const objectOrNull = (test: string, columns: string) =>
  `case when ${test} then ${object(columns)} end`;

/** The rows of a subselect as an array, in their order. */
export const list = (rows: string) => `(select coalesce(json_agg(row_to_json(l)), '[]') from (${rows}) l)`;

export const nodes = (rows: string, total?: string) =>
  object(`${total ? `(${total})::int as "totalCount", ` : ''}${list(rows)} as nodes`);

export const timestamp = (column: string) =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const priority = (column: string) => `(array['NONE','URGENT','HIGH','MEDIUM','LOW'])[${column} + 1]`;

/** The name of a code, which starts at 1. */
export const named = (names: string, column: string) =>
  `(array[${names
    .split(' ')
    .map((name) => `'${name}'`)
    .join(',')}])[${column}]`;

export const categories = 'BACKLOG OPEN ACTIVE COMPLETED CANCELED';
export const deliveryStates = 'PLANNED ACTIVE COMPLETED';
export const principalKinds = 'USER AGENT SERVICE';
