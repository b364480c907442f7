import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode } from 'graphql';
import { walk } from './walk.ts';

/** An operation as it will run: its document's fragments and its coerced variables. */
interface Operation {
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** An operation may have two variants for each variable in its `@skip` and `@include`; this many are kept. */
const maxVariants = 32;

/**
 * Computes something that depends on an operation and on the fields that `@skip` and `@include` cut, once for each
 * combination of their values. Documents are cached, so later requests find the result.
 */
export function perVariant<Source extends Operation, Made>(make: (source: Source) => Made) {
  const known = new WeakMap<
    OperationDefinitionNode,
    { conditions: readonly string[]; made: Map<string, Made> }
  >();
  return (source: Source): Made => {
    const { operation, variables } = source;
    let variants = known.get(operation);
    if (!variants) {
      variants = { conditions: conditionVariables(source), made: new Map() };
      known.set(operation, variants);
    }
    const { conditions, made } = variants;
    const key = conditions.map((name) => String(variables[name])).join(' ');
    const existing = made.get(key);
    if (existing !== undefined) return existing;
    const fresh = make(source);
    if (made.size >= maxVariants) made.clear();
    made.set(key, fresh);
    return fresh;
  };
}

/** The variables in `@skip` and `@include`, found once for all callers of `perVariant`. */
function conditionVariables({ operation, fragments }: Operation): readonly string[] {
  const known = conditionsByOperation.get(operation);
  if (known) return known;
  const names = new Set<string>();
  for (const node of [operation, ...fragments.values()]) {
    walk(node, (each) => {
      if (each.kind !== Kind.DIRECTIVE || (each.name.value !== 'skip' && each.name.value !== 'include'))
        return;
      for (const { value } of each.arguments ?? [])
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    });
  }
  const found = [...names].toSorted();
  conditionsByOperation.set(operation, found);
  return found;
}

const conditionsByOperation = new WeakMap<OperationDefinitionNode, readonly string[]>();
