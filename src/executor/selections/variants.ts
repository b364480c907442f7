import { Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { fieldCountOf } from '../documents/document-size.ts';
import { maxVariantFields } from '../limits.ts';
import type { CoercedOperation } from './operation.ts';
import { visitNodes } from '../documents/visit-nodes.ts';

type VariantSource = Omit<CoercedOperation, 'schema'>;

/** The results of all computations for one variant of an operation, by the computation. */
type Variant = Map<object, unknown>;

interface Variants {
  /** The variables in `@skip` and `@include`. */
  readonly conditions: readonly string[];
  /** The variants by the values of these variables, of which n variables have up to 2^n combinations. */
  readonly byValues: Map<string, Variant>;
}

const variantsOf = new WeakMap<OperationDefinitionNode, Variants>();

/** The size of a variant without fields, as a number of fields. */
const minVariantSize = 10;

/**
 * All variants but the first of each operation, which is freed with its document. The value of an entry is a function that removes the
 * variant from its operation. The size of a variant is its number of fields, because its plan grows with them.
 */
const laterVariants = new LRUCache<Variant, () => void>({
  maxSize: maxVariantFields,
  dispose: (forget) => forget(),
});

/**
 * Caches a computation that depends on an operation and on the fields that `@skip` and `@include` leave out. It is done once
 * for each combination of their values. Documents are cached, so later requests find the result.
 */
export function perVariant<Source extends VariantSource, Result>(compute: (source: Source) => Result) {
  return (source: Source): Result => {
    const variant = variantOf(source);
    const existing = variant.get(compute);
    if (existing !== undefined) return existing as Result;
    const result = compute(source);
    variant.set(compute, result);
    return result;
  };
}

function variantOf(source: VariantSource): Variant {
  const { operation, variables } = source;
  let variants = variantsOf.get(operation);
  if (!variants) {
    variants = { conditions: conditionVariables(source), byValues: new Map() };
    variantsOf.set(operation, variants);
  }
  const { conditions, byValues } = variants;
  const values = conditions.map((name) => String(variables[name])).join(' ');
  const known = byValues.get(values);
  if (known) return known;
  const variant: Variant = new Map();
  if (byValues.size > 0) {
    const size = minVariantSize + fieldCountOf(source);
    laterVariants.set(variant, () => byValues.delete(values), { size });
  }
  byValues.set(values, variant);
  return variant;
}

function conditionVariables({ operation, fragments }: VariantSource): readonly string[] {
  const names = new Set<string>();
  for (const node of [operation, ...fragments.values()]) {
    visitNodes(node, (each) => {
      if (each.kind !== Kind.DIRECTIVE || (each.name.value !== 'skip' && each.name.value !== 'include'))
        return;
      for (const { value } of each.arguments ?? [])
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    });
  }
  return [...names].toSorted();
}
