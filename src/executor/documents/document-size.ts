import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { tooComplex } from '../answers/too-complex.ts';
import {
  maxDepth,
  maxDirectives,
  maxFields,
  maxIntrospectionDepth,
  maxPages,
  maxRepeats,
  maxRootFields,
} from '../limits.ts';
import { fragmentsOf, type Operation } from '../selections/operation.ts';

interface Size {
  depth: number;
  /** The depth below `__schema` and `__type`, which `depth` leaves out. */
  introspection: number;
  fields: number;
  /** The fields on this level, without those below them. */
  width: number;
  pages: number;
}

const nothing: Readonly<Size> = { depth: 0, introspection: 0, fields: 0, width: 0, pages: 0 };

/** A selection with one of these fields, which only connections have, is a page. */
const pageFields: ReadonlySet<string> = new Set([
  'nodes',
  'edges',
  'pageInfo',
  'totalCount',
  'totalCountIsExact',
]);

/**
 * Refuses a document with selections that are too deep, too many or repeated too often, before validation or execution
 * spends time on fields that its fragments multiply. Each fragment is measured once.
 */
export function checkSize(document: DocumentNode): void {
  const sizes = new DocumentSizes(fragmentsOf(document));
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      checkDirectives(definition);
      for (const variable of definition.variableDefinitions ?? []) checkDirectives(variable);
      const { width, depth } = sizes.selections(definition.selectionSet);
      if (depth > maxDepth) tooComplex(`The selections are nested more than ${maxDepth} deep.`);
      if (width > maxRootFields) tooComplex(`The operation has more than ${maxRootFields} root fields.`);
    }
    if (definition.kind === Kind.FRAGMENT_DEFINITION) sizes.fragment(definition.name.value);
  }
}

/** The number of fields of an operation, each fragment counted where it is spread. */
export function fieldCountOf({ operation, fragments }: Pick<Operation, 'operation' | 'fragments'>): number {
  return new DocumentSizes(fragments).selections(operation.selectionSet).fields;
}

/**
 * The size of a document in a cache, in characters: those of its text, or those that its fields would take if each fragment were
 * written out wherever it is spread.
 */
export function cacheSizeOf(document: DocumentNode, text: string): number {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const fragments = fragmentsOf(document);
  const fields = operations.reduce((sum, operation) => sum + fieldCountOf({ operation, fragments }), 0);
  return Math.max(text.length, fields * charactersPerField);
}

/** Few fields have fewer characters, so the size of a document without fragments is the length of its text. */
const charactersPerField = 3;

class DocumentSizes {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #measured = new Map<string, Readonly<Size>>();

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  fragment(name: string): Readonly<Size> {
    const measured = this.#measured.get(name);
    if (measured) return measured;
    // A fragment that spreads itself finds this size; validation refuses such a cycle.
    this.#measured.set(name, nothing);
    const definition = this.#fragments.get(name);
    if (definition) checkDirectives(definition);
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
      if (times > maxRepeats)
        tooComplex(`\`${name}\` is selected more than ${maxRepeats} times in one place.`);
    }
    if (selections.some((node) => node.kind === Kind.FIELD && pageFields.has(node.name.value)))
      size.pages += 1;
    // A fragment may be spread below `__schema`, so the lower limit of other fields is checked on the operation.
    if (Math.max(size.depth, size.introspection) > maxIntrospectionDepth) {
      tooComplex(`The selections are nested more than ${maxDepth} deep.`);
    }
    if (size.fields > maxFields) tooComplex(`The operation selects more than ${maxFields} fields.`);
    if (size.pages > maxPages) tooComplex(`The operation selects more than ${maxPages} pages.`);
    return size;
  }

  #add(size: Size, selection: SelectionNode): void {
    checkDirectives(selection);
    const below = this.#below(selection);
    const isField = selection.kind === Kind.FIELD;
    const opensSchema = isField && schemaFields.has(selection.name.value);
    size.depth = Math.max(size.depth, (opensSchema ? 0 : below.depth) + (isField ? 1 : 0));
    size.introspection = Math.max(size.introspection, below.introspection, opensSchema ? below.depth + 1 : 0);
    size.fields += below.fields + (isField ? 1 : 0);
    size.width += isField ? 1 : below.width;
    size.pages += below.pages;
  }

  #below(selection: SelectionNode): Readonly<Size> {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.fragment(selection.name.value);
    return selection.selectionSet ? this.selections(selection.selectionSet) : nothing;
  }
}

const schemaFields: ReadonlySet<string> = new Set(['__schema', '__type']);

function checkDirectives({ directives }: { directives?: readonly DirectiveNode[] | undefined }): void {
  if (directives && directives.length > maxDirectives) {
    tooComplex(`One place in the document has more than ${maxDirectives} directives.`);
  }
}

function responseName(selection: SelectionNode): string {
  if (selection.kind === Kind.FIELD) return selection.alias?.value ?? selection.name.value;
  if (selection.kind === Kind.FRAGMENT_SPREAD) return `...${selection.name.value}`;
  return `... on ${selection.typeCondition?.name.value ?? ''}`;
}
