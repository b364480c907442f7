import { type IdPrefix, parseId } from '../resolvers/ids.ts';
import { maxNodes, type NodeKind } from '../resolvers/nodes.ts';
import { builder } from './builder/builder.ts';
import { entitiesByPrefix } from './builder/entity.ts';
import { naming } from './builder/naming.ts';
import { type FieldBuilder, planned } from './builder/plan-resolver.ts';
import type { Need } from './builder/scopes.ts';

let nodeKinds: ReadonlyMap<IdPrefix, NodeKind> | undefined;

/** Computed at the first request, because all types must be declared before. */
function kinds(): ReadonlyMap<IdPrefix, NodeKind> {
  nodeKinds ??= new Map(
    [...entitiesByPrefix].map(([prefix, { name, options, whereIncludingParent }]) => [
      prefix,
      { typeName: name, table: options.table, where: whereIncludingParent },
    ]),
  );
  return nodeKinds;
}

/** The needs of the types that the ids belong to: `node` must not bypass the needs of the other root fields. */
function needs(ids: readonly string[]): Need[] {
  return ids.flatMap((id) => {
    const prefix = parseId(id)?.prefix;
    return (prefix && entitiesByPrefix.get(prefix)?.needs) ?? [];
  });
}

builder.queryFields((t) => ({
  node: planned(
    t as unknown as FieldBuilder,
    builder.nodeInterfaceRef(),
    {
      nullable: true,
      scope: 'token',
      description:
        "An object by its id; null if there is none. The token needs the scope of the object's type.",
      args: {
        id: t.arg.id({
          required: true,
          extensions: naming('id'),
          description: 'The id of the object, of any type.',
        }),
      },
      extensions: { needsOfArguments: ({ id }: { id: string }) => needs([id]) },
    },
    { kind: 'nodes', argument: 'id', kinds },
  ),
  nodes: planned(
    t as unknown as FieldBuilder,
    [builder.nodeInterfaceRef()],
    {
      nullable: { list: false, items: true },
      scope: 'token',
      description: 'Objects by their ids, in the same order; null for each id without an object.',
      args: {
        ids: t.arg.idList({
          required: true,
          extensions: naming('id'),
          description: `The ids of the objects, of any types; at most ${maxNodes}.`,
        }),
      },
      extensions: {
        needsOfArguments: ({ ids }: { ids: string[] }) => needs(ids),
        rows: ({ ids }: { ids: string[] }) => ids.length,
      },
    },
    { kind: 'nodes', argument: 'ids', kinds },
  ),
}));
