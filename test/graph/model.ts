import type { Row, TableName } from '../../src/db/tables/tables.ts';
import type { Scope } from '../../src/resolvers/context.ts';

/** The expected fields of an object, by name. The value of a connection is the list of its rows. */
export type ModelObject = Readonly<Record<string, unknown>> & { readonly __typename: string };

/** The caller and the current time, on which some fields depend. */
export interface Viewer {
  userAccountId: string;
  role: number;
  scopes: readonly Scope[];
  nowMs: number;
}

/** The expected content of a workspace, computed from whole tables in plain JavaScript. */
export class Model {
  readonly #byType = new Map<string, ModelObject[]>();
  readonly rows: AllRows;
  readonly viewer: Viewer;

  constructor(rows: AllRows, viewer: Viewer) {
    this.rows = rows;
    this.viewer = viewer;
  }

  add(objects: readonly ModelObject[]): void {
    for (const each of objects) {
      this.#byType.set(each.__typename, [...(this.#byType.get(each.__typename) ?? []), each]);
    }
  }

  /** All objects of a type that are not deleted. */
  all(typeName: string): readonly ModelObject[] {
    return this.#byType.get(typeName) ?? [];
  }

  /** The object with an id, or null: the value of a reference to it. */
  find(typeName: string, id: unknown): ModelObject | null {
    return this.all(typeName).find((object) => object.id === id) ?? null;
  }

  /** The member with an account. */
  member(userAccountId: unknown): ModelObject | null {
    return this.all('Member').find((member) => member.userAccountId === userAccountId) ?? null;
  }

  /** The objects whose field has a value, such as the children of a parent. */
  where(typeName: string, field: string, value: unknown): readonly ModelObject[] {
    return this.all(typeName).filter((object) => object[field] === value);
  }
}

export type AllRows = { [Name in TableName]: Row<Name>[] };

/** Makes an object whose fields of `getters` are computed on access, because objects refer to each other in cycles. */
export function modelObject(
  typename: string,
  fields: Record<string, unknown>,
  getters: Record<string, () => unknown>,
): ModelObject {
  const object = { __typename: typename, ...fields };
  for (const [name, get] of Object.entries(getters))
    Object.defineProperty(object, name, { get, enumerable: true });
  return object;
}

/** The rows whose issue is not deleted, because the objects of an issue disappear with it. */
export function ofNotDeletedIssues<T extends { issueId: string }>({ rows }: Model, each: readonly T[]): T[] {
  const notDeleted = new Set(rows.issue.filter(({ deletedUtc }) => !deletedUtc).map(({ id }) => id));
  return each.filter(({ issueId }) => notDeleted.has(issueId));
}
