import {
  type FieldNode,
  getNamedType,
  type GraphQLInputType,
  type GraphQLNamedType,
  isInputType,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  typeFromAST,
  type ValueNode,
} from 'graphql';
import { tooComplex } from '../answers/too-complex.ts';
import {
  checkFilter,
  checkItems,
  type NestedVariable,
  type InputSize,
  sizeOfLiteral,
  sizeOfValue,
} from './input-size.ts';
import { maxFilterConditions, maxInputCharacters } from '../limits.ts';
import type { Operation } from '../selections/operation.ts';
import { type SelectionVisit, visitSelections } from '../selections/visit-selections.ts';

/**
 * Measures the values of an operation's variables as they were sent, each once, and with them all arguments of the
 * operation; returns the characters of the variables. Throws `invalid_request` for a list or a filter that is too large,
 * and `query_too_complex` when all arguments together are too large.
 */
export function checkInputs(source: Operation, inputs: Readonly<Record<string, unknown>>): number {
  const { variables, args } = declaredInputs(source);
  if (variables.length === 0) return 0;
  const sizes = new Map<string, InputSize>();
  let characters = 0;
  for (const { name, type, defaultSize } of variables) {
    const value = inputs[name];
    const size = value === undefined ? defaultSize : sizeOfValue(value, type, name);
    sizes.set(name, size);
    characters += size.characters;
  }
  checkTogether(args, sizes);
  return characters;
}

/** An argument in the document: the size of its literals, the variables in it, and how often fragments repeat it. */
interface DocumentArgument {
  readonly path: string;
  readonly size: InputSize;
  readonly variables: readonly NestedVariable[];
  readonly times: number;
}

interface DeclaredVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** The size of its default value. */
  readonly defaultSize: InputSize;
}

interface DeclaredInputs {
  readonly variables: readonly DeclaredVariable[];
  readonly args: readonly DocumentArgument[];
}

const nothing: InputSize = { conditions: 0, relations: 0, characters: 0, items: 0 };
const inputsByOperation = new WeakMap<OperationDefinitionNode, DeclaredInputs>();

/** The declared inputs of an operation, read once. Literals are checked here, once for all requests. */
function declaredInputs(source: Operation): DeclaredInputs {
  const known = inputsByOperation.get(source.operation);
  if (known) return known;
  const declared = { variables: variablesOf(source), args: argumentsOf(source) };
  checkTogether(declared.args, new Map());
  inputsByOperation.set(source.operation, declared);
  return declared;
}

function variablesOf({ schema, operation }: Operation): DeclaredVariable[] {
  return (operation.variableDefinitions ?? []).flatMap(({ variable, type: written, defaultValue }) => {
    const type = typeFromAST(schema, written);
    if (!isInputType(type)) return [];
    const name = variable.name.value;
    const defaultSize = defaultValue ? sizeOfLiteral(defaultValue, type, name).size : nothing;
    return [{ name, type, defaultSize }];
  });
}

/** Checks each filter and the sums of all arguments, with the sizes of the variables. */
function checkTogether(args: readonly DocumentArgument[], sizes: ReadonlyMap<string, InputSize>): void {
  let conditions = 0;
  let characters = 0;
  for (const argument of args) {
    const size = sizeWith(argument, sizes);
    checkFilter(size, argument.path);
    conditions += size.conditions * argument.times;
    characters += size.characters * argument.times;
  }
  if (conditions > maxFilterConditions) {
    tooComplex(
      `The filters of the operation have more than ${maxFilterConditions.toLocaleString('en')} conditions together.`,
    );
  }
  if (characters > maxInputCharacters) {
    tooComplex(
      `The arguments of the operation hold more than ${maxInputCharacters.toLocaleString('en')} characters, each variable counted as often as it is used.`,
    );
  }
}

function sizeWith({ size, variables }: DocumentArgument, sizes: ReadonlyMap<string, InputSize>): InputSize {
  if (variables.length === 0) return size;
  const sum = { ...size };
  for (const { name, position } of variables) {
    const { conditions, relations, characters, items } = sizes.get(name) ?? nothing;
    checkItems(items, position.path, position.maxItems);
    sum.conditions += position.isOperand ? Math.max(conditions, 1) : conditions;
    sum.relations += relations;
    sum.characters += characters;
  }
  return sum;
}

/** The arguments of all fields of an operation, those of each fragment read once. */
function argumentsOf(source: Operation): DocumentArgument[] {
  const { schema, operation, fragments } = source;
  const root = schema.getRootType(operation.operation);
  if (!root) return [];
  const whole = new SelectedArguments(source).read(operation.selectionSet, root);
  const bodies = new Map<string, SelectedArguments>();
  const order: string[] = [];
  const visit = ({ spreads }: SelectedArguments): void => {
    for (const name of spreads.keys()) {
      const fragment = fragments.get(name);
      const type = fragment && schema.getType(fragment.typeCondition.name.value);
      if (!type || bodies.has(name)) continue;
      const body = new SelectedArguments(source).read(fragment.selectionSet, type);
      bodies.set(name, body);
      visit(body);
      order.unshift(name);
    }
  };
  visit(whole);
  // In this order, all spreads of a fragment are counted before the spreads inside it.
  const times = new Map<string, number>();
  const count = ({ spreads }: SelectedArguments, outer: number) => {
    for (const [name, inner] of spreads) times.set(name, (times.get(name) ?? 0) + outer * inner);
  };
  count(whole, 1);
  const found = whole.found.map((one) => ({ ...one, times: 1 }));
  for (const name of order) {
    const body = bodies.get(name);
    const outer = times.get(name) ?? 0;
    if (!body) continue;
    count(body, outer);
    for (const one of body.found) found.push({ ...one, times: outer });
  }
  return found;
}

/** The arguments in a selection set, without those in fragments, and how often it spreads each fragment. */
class SelectedArguments {
  readonly found: Omit<DocumentArgument, 'times'>[] = [];
  readonly spreads = new Map<string, number>();
  readonly #visit: SelectionVisit;

  constructor({ schema, fragments }: Operation) {
    const field = (node: FieldNode, parent: GraphQLNamedType) => this.#addField(node, parent);
    this.#visit = { schema, fragments, field, enters: (name) => this.#spread(name) };
  }

  read(selectionSet: SelectionSetNode, type: GraphQLNamedType): this {
    visitSelections(this.#visit, selectionSet, type);
    return this;
  }

  /** Counts the spread; the fragment itself is read once, separately. */
  #spread(name: string): false {
    this.spreads.set(name, (this.spreads.get(name) ?? 0) + 1);
    return false;
  }

  #addField({ name, arguments: args = [], selectionSet }: FieldNode, parent: GraphQLNamedType): void {
    const field =
      isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name.value] : undefined;
    // The fields of introspection take single values.
    if (!field) return;
    for (const argument of args) {
      const declared = field.args.find((one) => one.name === argument.name.value);
      if (declared) this.#addArgument(argument.value, declared.type, declared.name);
    }
    if (selectionSet) this.read(selectionSet, getNamedType(field.type));
  }

  #addArgument(value: ValueNode, type: GraphQLInputType, path: string): void {
    this.found.push({ path, ...sizeOfLiteral(value, type, path) });
  }
}
