import type { Row, TableName } from '../../src/db/tables/tables.ts';
import type { Scope } from '../../src/resolvers/context.ts';

/** A thing as the graph shows it, every field of its type under its name; a connection is the list of its rows. */
export type ModelObject = Readonly<Record<string, unknown>> & { readonly __typename: string };

/** Who asks, and when: some fields depend on it. */
export interface Viewer {
  userAccountId: string;
  role: number;
  scopes: readonly Scope[];
  nowMs: number;
}

/** Everything in one workspace, worked out in plain JavaScript from whole tables: what the graph must agree with. */
export class Model {
  readonly #byType = new Map<string, ModelObject[]>();
  readonly rows: AllRows;
  readonly viewer: Viewer;

  constructor(rows: AllRows, viewer: Viewer) {
    this.rows = rows;
    this.viewer = viewer;
  }

  add(made: readonly ModelObject[]): void {
    for (const each of made) {
      this.#byType.set(each.__typename, [...(this.#byType.get(each.__typename) ?? []), each]);
    }
  }

  /** All living things of a type; a list that is used before it is filled is a mistake. */
  all(typeName: string): readonly ModelObject[] {
    return this.#byType.get(typeName) ?? [];
  }

  /** The thing with that id, or null: what a reference to it reads. */
  find(typeName: string, id: unknown): ModelObject | null {
    return this.all(typeName).find((object) => object.id === id) ?? null;
  }

  /** The member behind an account. */
  member(userAccountId: unknown): ModelObject | null {
    return this.all('Member').find((member) => member.userAccountId === userAccountId) ?? null;
  }

  /** The things whose field has that value: children by a key. */
  where(typeName: string, field: string, value: unknown): readonly ModelObject[] {
    return this.all(typeName).filter((object) => object[field] === value);
  }
}

export type AllRows = { [Name in TableName]: Row<Name>[] };

/** Properties that are worked out when they are looked at: things refer to one another in circles. */
export function modelObject(
  typename: string,
  fields: Record<string, unknown>,
  later: Record<string, () => unknown>,
): ModelObject {
  const made = { __typename: typename, ...fields };
  for (const [name, get] of Object.entries(later))
    Object.defineProperty(made, name, { get, enumerable: true });
  return made;
}

/** Those whose issue is not deleted: what hangs on an issue goes with it. */
export function onLiving<T extends { issueId: string }>({ rows }: Model, each: readonly T[]): T[] {
  const living = new Set(rows.issue.filter(({ deletedUtc }) => !deletedUtc).map(({ id }) => id));
  return each.filter(({ issueId }) => living.has(issueId));
}
