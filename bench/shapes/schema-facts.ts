import { schema } from '../../src/schema/index.ts';
import type { Plan } from '../../src/schema/builder/plan.ts';
import type { ListDeclaration } from '../../src/resolvers/connections.ts';
import type { InputFacts } from './values.ts';

/** A root list of the graph whose rows are not cached: those can become many. */
export interface RootList {
  readonly name: string;
  readonly row: string;
  readonly list: ListDeclaration;
}

type Named = { name: string };
/** The parts of graphql-js types that are read here, whichever copy of graphql-js they are of. */
interface TypeLike {
  toString(): string;
  ofType?: TypeLike;
  name?: string;
  getFields?(): Readonly<
    Record<string, { name: string; type: TypeLike; extensions: Readonly<Record<string, unknown>> }>
  >;
  getValues?(): readonly Named[];
}

function bare(type: TypeLike | undefined): TypeLike | undefined {
  return type?.ofType ? bare(type.ofType) : type;
}

/** The fields of a type that are connections. */
export function connectionsOf(typeName: string): { name: string; row: string; list: ListDeclaration }[] {
  const type = schema.getType(typeName) as unknown as TypeLike | undefined;
  return Object.values(type?.getFields?.() ?? {}).flatMap(({ name, type: of, extensions }) => {
    const plan = extensions['plan'] as Plan | undefined;
    if (plan?.kind !== 'connection') return [];
    return [{ name, row: (bare(of)?.name ?? '').replace(/Connection$/, ''), list: plan.list }];
  });
}

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
