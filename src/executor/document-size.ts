import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';
import { AppError } from '../resolvers/errors.ts';

/** How deep the selections of an operation may go, through its fragments. */
export const maxDepth = 30;
/** How many fields an operation may select, each fragment counted where it is spread. */
export const maxFields = 5_000;
/** How often one selection set may ask for the same name; validation compares them pair by pair. */
export const maxRepeats = 50;

interface Size {
  depth: number;
  fields: number;
}

/**
 * Refuses a document whose selections are too deep, too many or too often the same, before validation or
 * execution would spend time on what its fragments multiply. Each fragment is measured once.
 */
export function checkSize(document: DocumentNode): void {
  const sizes = new DocumentSizes(document);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) sizes.selections(definition.selectionSet);
    if (definition.kind === Kind.FRAGMENT_DEFINITION) sizes.fragment(definition.name.value);
  }
}

class DocumentSizes {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #measured = new Map<string, Size>();

  constructor(document: DocumentNode) {
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map((node) => [node.name.value, node]));
  }

  fragment(name: string): Size {
    const measured = this.#measured.get(name);
    if (measured) return measured;
    // Also what a cycle finds: validation refuses those.
    this.#measured.set(name, { depth: 0, fields: 0 });
    const definition = this.#fragments.get(name);
    const size = definition ? this.selections(definition.selectionSet) : { depth: 0, fields: 0 };
    this.#measured.set(name, size);
    return size;
  }

  selections({ selections }: SelectionSetNode): Size {
    const size = { depth: 0, fields: 0 };
    const repeats = new Map<string, number>();
    for (const selection of selections) {
      const [below, level] = this.#below(selection);
      size.depth = Math.max(size.depth, below.depth + level);
      size.fields += below.fields + level;
      const name = responseName(selection);
      const times = (repeats.get(name) ?? 0) + 1;
      repeats.set(name, times);
      if (times > maxRepeats) refuse(`\`${name}\` is selected more than ${maxRepeats} times in one place.`);
    }
    if (size.depth > maxDepth) refuse(`The selections are nested more than ${maxDepth} deep.`);
    if (size.fields > maxFields) refuse(`The operation selects more than ${maxFields} fields.`);
    return size;
  }

  /** What a selection leads to, and whether it is a level of its own. */
  #below(selection: SelectionSetNode['selections'][number]): [Size, 0 | 1] {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [this.fragment(selection.name.value), 0];
    const level = selection.kind === Kind.FIELD ? 1 : 0;
    const { selectionSet } = selection;
    return [selectionSet ? this.selections(selectionSet) : { depth: 0, fields: 0 }, level];
  }
}

function responseName(selection: SelectionSetNode['selections'][number]): string {
  if (selection.kind === Kind.FIELD) return selection.alias?.value ?? selection.name.value;
  if (selection.kind === Kind.FRAGMENT_SPREAD) return `...${selection.name.value}`;
  return `... on ${selection.typeCondition?.name.value ?? ''}`;
}

function refuse(message: string): never {
  throw new AppError('query_too_complex', message);
}
