import { listIndexes } from '../../src/db/tables/list-indexes.ts';
import { inSql } from '../../src/db/tables/sql-names.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import { schema } from '../../src/schema/index.ts';
import type { Plan } from '../../src/schema/builder/plan.ts';
import type { ListDeclaration } from '../../src/resolvers/connections.ts';
import type { InputFacts } from './values.ts';

/** A list of the graph. */
export interface ListFacts {
  readonly name: string;
  /** The type of its rows. */
  readonly row: string;
  readonly list: ListDeclaration;
}

/** A list under a parent, and where its rows refer to the parent. */
export interface ChildList extends ListFacts {
  readonly parentType: string;
  readonly parentTable: string;
  /** The column of the parent that its rows refer to. */
  readonly parentKey: string;
  /** The table and the column with the references, and a condition on its rows. */
  readonly rows: { readonly table: string; readonly parent: string; readonly where: string };
  encoded(id: string): string;
}

type NamedValue = { name: string };
/** The parts of graphql-js types that are read here, whichever copy of graphql-js they are of. */
interface TypeLike {
  toString(): string;
  ofType?: TypeLike;
  name?: string;
  getFields?(): Readonly<
    Record<string, { name: string; type: TypeLike; extensions: Readonly<Record<string, unknown>> }>
  >;
  getValues?(): readonly NamedValue[];
}

function bare(type: TypeLike | undefined): TypeLike | undefined {
  return type?.ofType ? bare(type.ofType) : type;
}

function fieldsOf(typeName: string) {
  const type = schema.getType(typeName) as unknown as TypeLike | undefined;
  return Object.values(type?.getFields?.() ?? {}).flatMap(({ name, type: of, extensions }) => {
    const plan = extensions['plan'] as Plan | undefined;
    if (plan?.kind !== 'connection' || !listIndexes[plan.list.source.table]) return [];
    return [{ name, row: (bare(of)?.name ?? '').replace(/Connection$/, ''), plan }];
  });
}

/** The names of the values of an enum. */
export function enumValues(name: string): string[] {
  const type = schema.getType(name) as unknown as TypeLike | undefined;
  return (type?.getValues?.() ?? []).map((value) => value.name);
}

/** The root lists whose rows can become many. */
export const rootLists: readonly ListFacts[] = fieldsOf('Query').map(({ name, row, plan }) => ({
  name,
  row,
  list: plan.list,
}));

/** The lists under parents whose rows can become many. */
export const childLists: readonly ChildList[] = [...entitiesByPrefix].flatMap(([prefix, entity]) =>
  fieldsOf(entity.name).flatMap(({ name, row, plan: { list, parentKey } }): ChildList[] => {
    const { parent, table } = list.source;
    if (!parent || parentKey === undefined) return [];
    const rows =
      'through' in parent
        ? { table: inSql(parent.through.table), parent: inSql(parent.through.parent), where: '' }
        : {
            table: inSql(table),
            parent: inSql(parent.column),
            where: `where ${inSql(parent.column)} is not null`,
          };
    return [
      {
        name,
        row,
        list,
        parentType: entity.name,
        parentTable: inSql(entity.options.table),
        parentKey: inSql(parentKey),
        rows,
        encoded: (id) => encodeId(prefix, id),
      },
    ];
  }),
);

/** What the filter input of a row's type says. */
export function inputFacts(row: string): InputFacts {
  const input = schema.getType(`${row}Filter`) as unknown as TypeLike | undefined;
  const fieldOf = (field: string) => bare(input?.getFields?.()[field]?.type);
  const valueOf = (field: string) => {
    const fields = fieldOf(field)?.getFields?.() ?? {};
    return bare((fields['eq'] ?? fields['contains'])?.type);
  };
  return {
    comparators: (field) => Object.keys(fieldOf(field)?.getFields?.() ?? {}),
    enumValues: (field) =>
      valueOf(field)
        ?.getValues?.()
        .map(({ name }) => name),
    valueType: (field) => valueOf(field)?.name ?? '',
  };
}
