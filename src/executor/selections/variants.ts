import { Kind, type OperationDefinitionNode } from 'graphql';
import type { CoercedOperation } from './operation.ts';
import { visitNodes } from '../documents/visit-nodes.ts';

type VariantSource = Omit<CoercedOperation, 'schema'>;

/** The maximum number of cached variants of an operation; n variables in its `@skip` and `@include` give up to 2^n. */
const maxVariants = 32;

/**
 * Caches a computation that depends on an operation and on the fields that `@skip` and `@include` leave out. It is done once
 * for each combination of their values. Documents are cached, so later requests find the result.
 */
export function perVariant<Source extends VariantSource, Result>(compute: (source: Source) => Result) {
  const known = new WeakMap<
    OperationDefinitionNode,
    { conditions: readonly string[]; results: Map<string, Result> }
  >();
  return (source: Source): Result => {
    const { operation, variables } = source;
    let variants = known.get(operation);
    if (!variants) {
      variants = { conditions: conditionVariables(source), results: new Map() };
      known.set(operation, variants);
    }
    const { conditions, results } = variants;
    const key = conditions.map((name) => String(variables[name])).join(' ');
    const existing = results.get(key);
    if (existing !== undefined) return existing;
    const result = compute(source);
    if (results.size >= maxVariants) results.clear();
    results.set(key, result);
    return result;
  };
}

/** The variables in `@skip` and `@include`, found once for all callers of `perVariant`. */
function conditionVariables({ operation, fragments }: VariantSource): readonly string[] {
  const known = conditionsByOperation.get(operation);
  if (known) return known;
  const names = new Set<string>();
  for (const node of [operation, ...fragments.values()]) {
    visitNodes(node, (each) => {
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
