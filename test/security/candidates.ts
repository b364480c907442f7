import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../src/db/tables/tables.ts';
import { encodeId, type IdPrefix, isUuid } from '../../src/resolvers/ids.ts';
import { issueKey } from '../../src/resolvers/keys.ts';
import '../../src/schema/index.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';

/** The objects of a workspace that a request can name, by the prefix of their ids. Those near the issue with the most comments come first. */
export class Candidates {
  readonly #notDeleted = new Map<IdPrefix, Candidate[]>();
  readonly #deleted = new Map<IdPrefix, Candidate[]>();

  constructor(rows: readonly (Candidate & { prefix: IdPrefix; isDeleted: boolean })[]) {
    for (const { prefix, isDeleted, ...candidate } of rows) {
      const map = isDeleted ? this.#deleted : this.#notDeleted;
      map.set(prefix, [...(map.get(prefix) ?? []), candidate]);
    }
  }

  /** The objects that are not deleted. Throws if the fixture has none of the kind. */
  notDeleted(prefix: IdPrefix): readonly Candidate[] {
    const found = this.#notDeleted.get(prefix) ?? [];
    if (found.length === 0) throw new Error(`The fixture has no ${prefix}.`);
    return found;
  }

  deleted(prefix: IdPrefix): readonly Candidate[] {
    return this.#deleted.get(prefix) ?? [];
  }
}

/** The names of an object: its id, and a key or code if it has one. */
export interface Candidate {
  id: string;
  key: string | undefined;
}

type AnyRow = Record<string, unknown>;

/** The columns that contain ids of each kind: the id of the type's table, and the columns of id filters. */
const sources: readonly { prefix: IdPrefix; table: string; column: string }[] = [
  ...entitiesByPrefix.values(),
].flatMap((entity) => {
  const { table, prefix } = entity.options;
  const declared = Object.values(entity.filterFields()).flatMap((field) =>
    field.kind === 'id' ? [{ prefix: field.prefix, table, column: field.column }] : [],
  );
  return prefix ? [{ prefix, table, column: 'id' }, ...declared] : declared;
});

/** Every kind of id that a request can contain. */
export const kinds: readonly IdPrefix[] = [...new Set(sources.map(({ prefix }) => prefix))];

/** Reads all objects of a workspace, guided by the declarations of the types. */
export async function readCandidates(unscoped: Kysely<Tables>, workspaceId: string): Promise<Candidates> {
  const tables = new Map<string, AnyRow[]>();
  for (const { table } of sources) {
    if (tables.has(table)) continue;
    const own = table === 'workspace' ? 'id' : 'workspace_id';
    const { rows } = await sql<AnyRow>`select * from ${sql.table(table)}
      where ${sql.ref(own)} = ${workspaceId}`.execute(unscoped);
    tables.set(table, rows);
  }
  const codes = new Map((tables.get('team') ?? []).map(({ id, code }) => [id, String(code)]));
  const star = starOf(tables.get('issue') ?? []);
  const found = sources.flatMap(({ prefix, table, column }) =>
    (tables.get(table) ?? [])
      .filter((row) => isUuid(row[column]))
      .map((row) => ({
        prefix,
        id: encodeId(prefix, String(row[column])),
        key: column === 'id' ? keyOf(prefix, row, codes) : undefined,
        // Another row that refers to an object is not deleted with it.
        isDeleted: column === 'id' && row.deletedUtc != null,
        distance: distanceFrom(star, row),
      })),
  );
  const candidates = [...Map.groupBy(found, ({ id }) => id).values()].map((mentions) => ({
    prefix: mentions[0]?.prefix ?? 'issue',
    id: mentions[0]?.id ?? '',
    key: mentions.find(({ key }) => key !== undefined)?.key,
    isDeleted: mentions.some(({ isDeleted }) => isDeleted),
    distance: Math.min(...mentions.map(({ distance }) => distance)),
  }));
  // Objects at the same distance are in the order of their creation, since the order of rows in a table may change.
  return new Candidates(
    candidates.toSorted((left, right) => left.distance - right.distance || (left.id < right.id ? -1 : 1)),
  );
}

function keyOf(prefix: IdPrefix, row: AnyRow, codes: ReadonlyMap<unknown, string>): string | undefined {
  if (prefix === 'team') return String(row.code);
  if (prefix === 'project') return String(row.key);
  return prefix === 'issue' ? issueKey(codes.get(row.teamId) ?? '', Number(row.number)) : undefined;
}

function starOf(issues: readonly AnyRow[]): AnyRow {
  const [star] = issues.toSorted(
    (left, right) =>
      Number(right.commentCount) - Number(left.commentCount) || (String(left.id) < String(right.id) ? -1 : 1),
  );
  return star ?? {};
}

/** 0 for the issue and what belongs to it, 1 for what it refers to and what belongs to its team, 2 for the rest. */
function distanceFrom(star: AnyRow, row: AnyRow): number {
  if (row.id === star.id || row.issueId === star.id) return 0;
  const near = Object.values(star).includes(row.id) || row.teamId === star.teamId;
  return near ? 1 : 2;
}
