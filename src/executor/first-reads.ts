import {
  getNamedType,
  type GraphQLNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import type { Context } from '../resolvers/context.ts';
import type { ScopedOperation } from './scope-rule.ts';
import { isCutBy, type SelectionWalk, walkSelections } from './selections.ts';
import { perVariant } from './variants.ts';

/** What a field needs to be read before any other statement of the operation is sent. Returns what the context gets by it. */
export type FirstRead = (context: Context) => Promise<Partial<Context>>;

const firstReadsOf = perVariant(({ schema, operation, fragments, variables }: ScopedOperation) => {
  const found = new Set<FirstRead>();
  const entered = new Set<string>();
  const enter = (selectionSet: SelectionSetNode, parent: GraphQLNamedType) =>
    walkSelections(walk, selectionSet, parent);
  const walk: SelectionWalk = {
    schema,
    fragments,
    isCut: (selection) => isCutBy(selection, variables),
    enters: (fragment) => {
      if (entered.has(fragment)) return false;
      entered.add(fragment);
      return true;
    },
    field: ({ name, selectionSet }, parent) => {
      const fields = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields() : {};
      const field = fields[name.value];
      if (!field) return;
      const { firstRead } = field.extensions as { firstRead?: FirstRead };
      if (firstRead) found.add(firstRead);
      const type = getNamedType(field.type);
      if (selectionSet && isCompositeType(type)) enter(selectionSet, type);
    },
  };
  const root = schema.getRootType(operation.operation);
  if (root) enter(operation.selectionSet, root);
  return [...found];
});

/** The context of an operation, with what its fields need to be read first. */
export async function withFirstReads<Ctx extends Context>(
  scoped: ScopedOperation,
  context: Ctx,
): Promise<Ctx> {
  const reads = firstReadsOf(scoped);
  if (reads.length === 0) return context;
  const gained = await Promise.all(reads.map((read) => read(context)));
  return Object.assign({}, context, ...gained) as Ctx;
}
