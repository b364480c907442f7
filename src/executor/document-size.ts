import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { AppError } from '../resolvers/errors.ts';

/** How deep the selections of an operation may go, through its fragments. */
export const maxDepth = 30;
/** How many fields an operation may select, each fragment counted where it is spread. */
export const maxFields = 5_000;
/** How many fields the operation itself may have, and how many pages in all: each is a statement or more. */
export const maxRootFields = 200;
export const maxPages = 200;
/** How often one selection set may ask for the same name; validation compares them pair by pair. */
export const maxRepeats = 50;

interface Size {
  depth: number;
  fields: number;
  /** Fields that stand on this level itself, not below one of its fields. */
  width: number;
  pages: number;
}

const nothing: Readonly<Size> = { depth: 0, fields: 0, width: 0, pages: 0 };

/** What only connections have: a selection with one of these is a page. */
const pageFields: ReadonlySet<string> = new Set(['nodes', 'edges', 'pageInfo', 'totalCount']);

/**
 * Refuses a document whose selections are too deep, too many or too often the same, before validation or
 * execution would spend time on what its fragments multiply. Each fragment is measured once.
 */
export function checkSize(document: DocumentNode): void {
  const sizes = new DocumentSizes(document);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      const { width } = sizes.selections(definition.selectionSet);
      if (width > maxRootFields) refuse(`The operation has more than ${maxRootFields} fields of its own.`);
    }
    if (definition.kind === Kind.FRAGMENT_DEFINITION) sizes.fragment(definition.name.value);
  }
}

class DocumentSizes {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #measured = new Map<string, Readonly<Size>>();

  constructor(document: DocumentNode) {
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map((node) => [node.name.value, node]));
  }

  fragment(name: string): Readonly<Size> {
    const measured = this.#measured.get(name);
    if (measured) return measured;
    // Also what a cycle finds: validation refuses those.
    this.#measured.set(name, nothing);
    const definition = this.#fragments.get(name);
    const size = definition ? this.selections(definition.selectionSet) : nothing;
    this.#measured.set(name, size);
    return size;
  }

  selections({ selections }: SelectionSetNode): Size {
    const size = { ...nothing };
    const repeats = new Map<string, number>();
    for (const selection of selections) {
      this.#add(size, selection);
      const name = responseName(selection);
      const times = (repeats.get(name) ?? 0) + 1;
      repeats.set(name, times);
      if (times > maxRepeats) refuse(`\`${name}\` is selected more than ${maxRepeats} times in one place.`);
    }
    if (selections.some((node) => node.kind === Kind.FIELD && pageFields.has(node.name.value)))
      size.pages += 1;
    if (size.depth > maxDepth) refuse(`The selections are nested more than ${maxDepth} deep.`);
    if (size.fields > maxFields) refuse(`The operation selects more than ${maxFields} fields.`);
    if (size.pages > maxPages) refuse(`The operation selects more than ${maxPages} pages.`);
    return size;
  }

  #add(size: Size, selection: SelectionNode): void {
    const below = this.#below(selection);
    const isField = selection.kind === Kind.FIELD;
    size.depth = Math.max(size.depth, below.depth + (isField ? 1 : 0));
    size.fields += below.fields + (isField ? 1 : 0);
    size.width += isField ? 1 : below.width;
    size.pages += below.pages;
  }

  #below(selection: SelectionNode): Readonly<Size> {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.fragment(selection.name.value);
    return selection.selectionSet ? this.selections(selection.selectionSet) : nothing;
  }
}

function responseName(selection: SelectionNode): string {
  if (selection.kind === Kind.FIELD) return selection.alias?.value ?? selection.name.value;
  if (selection.kind === Kind.FRAGMENT_SPREAD) return `...${selection.name.value}`;
  return `... on ${selection.typeCondition?.name.value ?? ''}`;
}

function refuse(message: string): never {
  throw new AppError('query_too_complex', message);
}
