import {
  getNamedType,
  getNullableType,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  isInputObjectType,
  isListType,
  Kind,
  type ValueNode,
} from 'graphql';
import { raise } from '../../resolvers/errors.ts';
import { maxConditions, maxRelatedConditions } from '../../resolvers/filters.ts';
import type { InputFieldExtensions, InputTypeExtensions } from '../../schema/builder/filters.ts';
import { maxListItems, valueCharacters } from '../limits.ts';

/** The size of an input: the conditions of its filters, those on related types, its characters, and its items if it is a list. */
export interface InputSize {
  conditions: number;
  relations: number;
  characters: number;
  items: number;
}

/** The position of a part of an input, and what the schema says about that position. */
interface InputPosition {
  /** Undefined if graphql-js will refuse the input. */
  readonly type: GraphQLInputType | undefined;
  readonly path: string;
  /** Whether it is an item of `and` or `or`, or a `not`, which counts as one condition even if it has none. */
  readonly isOperand: boolean;
  /** The maximum number of items of a list in this position, if it is lower than for other lists. */
  readonly maxItems: number | undefined;
}

/** A variable in a literal. Its size is that of the value in the request. */
export interface NestedVariable {
  readonly name: string;
  readonly position: InputPosition;
}

/** A part of an input, whether it was sent as JSON or as a literal of the document. */
type InputPart<Input> =
  | { readonly kind: 'list'; readonly items: readonly Input[] }
  | {
      readonly kind: 'object';
      readonly size: number;
      /** A function, so that the members of a large object are not read before their number is checked. */
      readonly fields: () => readonly (readonly [name: string, value: Input])[];
    }
  | { readonly kind: 'leaf'; readonly characters: number; readonly isNull: boolean }
  | { readonly kind: 'variable'; readonly name: string };

type ObjectPart<Input> = Extract<InputPart<Input>, { kind: 'object' }>;

/**
 * Measures the value of a variable before it is coerced. Throws `invalid_request` at the first list or filter that is too
 * large, and a GraphQLError at an object with more fields than its type has.
 */
export function sizeOfValue(value: unknown, type: GraphQLInputType, path: string): InputSize {
  const meter = new InputMeter(partOfValue, type, path);
  meter.add(value);
  return meter.size;
}

/**
 * Measures a literal of the document as `sizeOfValue` does. `variables` are the variables in it, which its size does not include.
 */
export function sizeOfLiteral(
  literal: ValueNode,
  type: GraphQLInputType,
  path: string,
): { size: InputSize; variables: readonly NestedVariable[] } {
  const meter = new InputMeter(partOfLiteral, type, path);
  meter.add(literal);
  return { size: meter.size, variables: meter.variables };
}

/** Throws `invalid_request` when a filter has too many conditions. */
export function checkFilter({ conditions, relations }: InputSize, path: string): void {
  if (conditions > maxConditions) refuse(path, `takes ${maxConditions} conditions at most`);
  if (relations > maxRelatedConditions)
    refuse(path, `takes ${maxRelatedConditions} conditions on related things at most`);
}

/** Throws `invalid_request` when a list is longer than its own limit, or than that of any list. */
export function checkItems(items: number, path: string, maxItems = maxListItems): void {
  if (items > maxItems)
    refuse(path, `takes ${maxItems} ${maxItems < maxListItems ? 'values' : 'items'} at most`);
}

class InputMeter<Input> {
  readonly size: InputSize = { conditions: 0, relations: 0, characters: 0, items: 0 };
  readonly variables: NestedVariable[] = [];
  readonly #partOf: (input: Input) => InputPart<Input>;
  readonly #root: InputPosition;

  constructor(partOf: (input: Input) => InputPart<Input>, type: GraphQLInputType, path: string) {
    this.#partOf = partOf;
    const { isFilter = false }: InputTypeExtensions = getNamedType(type).extensions;
    this.#root = {
      type,
      path,
      isOperand: isFilter && isListType(getNullableType(type)),
      maxItems: undefined,
    };
  }

  add(input: Input, position: InputPosition = this.#root): void {
    const { type, path, isOperand } = position;
    const part = this.#partOf(input);
    if (part.kind === 'list') {
      this.#addList(part.items, position);
      return;
    }
    const before = this.size.conditions;
    if (part.kind === 'variable') this.variables.push({ name: part.name, position });
    else if (part.kind === 'leaf') this.size.characters += part.characters;
    else this.#addObject(part, type && getNamedType(type), path);
    // An empty operand counts as one condition, because otherwise a filter could have any number of them.
    if (isOperand && part.kind !== 'variable' && this.size.conditions === before) this.#addCondition(false);
  }

  #addList(items: readonly Input[], at: InputPosition): void {
    const { type, path, isOperand, maxItems } = at;
    checkItems(items.length, path, maxItems);
    if (at === this.#root) this.size.items = items.length;
    this.size.characters += valueCharacters;
    const list = type && getNullableType(type);
    const itemType = isListType(list) ? list.ofType : list;
    for (const [index, item] of items.entries())
      this.add(item, { type: itemType, path: `${path}[${index}]`, isOperand, maxItems: undefined });
  }

  #addObject(
    { size, fields }: ObjectPart<Input>,
    type: GraphQLNamedInputType | undefined,
    path: string,
  ): void {
    this.size.characters += valueCharacters;
    const known = isInputObjectType(type) ? type.getFields() : {};
    if (isInputObjectType(type) && size > Object.keys(known).length) {
      throw new GraphQLError(`"${path}" has more fields than the type "${type.name}".`, {
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      });
    }
    const { isFilter }: InputTypeExtensions = type?.extensions ?? {};
    for (const [name, value] of fields()) {
      // graphql-js refuses unknown fields later. Here they only count as characters, with their names, which may be long.
      const field = known[name];
      if (!field) this.size.characters += name.length;
      const { combines = false, relation = false, maxItems }: InputFieldExtensions = field?.extensions ?? {};
      const part = this.#partOf(value);
      // A filter that is null means the same as one that is left out.
      const isNull = part.kind === 'leaf' && part.isNull;
      if (isFilter && field && !combines && !isNull) this.#addCondition(relation);
      const isOperand = combines && !isNull;
      this.add(value, { type: field?.type, path: `${path}.${name}`, isOperand, maxItems });
    }
  }

  #addCondition(isRelation: boolean): void {
    this.size.conditions += 1;
    if (isRelation) this.size.relations += 1;
    checkFilter(this.size, this.#root.path);
  }
}

function partOfValue(value: unknown): InputPart<unknown> {
  if (Array.isArray(value)) return { kind: 'list', items: value };
  if (typeof value === 'object' && value !== null)
    return { kind: 'object', size: Object.keys(value).length, fields: () => Object.entries(value) };
  const characters = typeof value === 'string' ? value.length + valueCharacters : valueCharacters;
  return { kind: 'leaf', characters, isNull: value === null || value === undefined };
}

function partOfLiteral(node: ValueNode): InputPart<ValueNode> {
  switch (node.kind) {
    case Kind.LIST:
      return { kind: 'list', items: node.values };
    case Kind.OBJECT:
      return {
        kind: 'object',
        size: node.fields.length,
        fields: () => node.fields.map(({ name, value }) => [name.value, value]),
      };
    case Kind.VARIABLE:
      return { kind: 'variable', name: node.name.value };
    default: {
      const characters = 'value' in node ? String(node.value).length + valueCharacters : valueCharacters;
      return { kind: 'leaf', characters, isNull: node.kind === Kind.NULL };
    }
  }
}

function refuse(field: string, message: string): never {
  raise('invalid_request', `${field}: ${message}.`, [{ field, message }]);
}
