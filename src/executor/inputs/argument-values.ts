import {
  type FieldNode,
  getArgumentValues,
  type GraphQLArgument,
  type GraphQLField,
  isNonNullType,
  Kind,
  type ValueNode,
  valueFromAST,
} from 'graphql';
import { containsVariable } from '../compiled/compile/selection.ts';

type Variables = Readonly<Record<string, unknown>>;
type Arguments = Record<string, unknown>;

/** Sets one argument in a run; returns false if graphql-js has to do it, or has to report what is wrong. */
type Setter = (args: Arguments, variables: Variables) => boolean;

/**
 * Does the same as `getArgumentValues` of graphql-js for one field of a document, but does the work that is the same in each run
 * only once. Takes the coerced variables of the operation. Throws the errors of graphql-js.
 */
export function argumentReader(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: Variables) => Arguments {
  let isUsed = false;
  let setters: readonly Setter[] | undefined;
  return (variables) => {
    // Most documents run only once, so nothing is compiled before the second run.
    if (!isUsed) {
      isUsed = true;
      return getArgumentValues(field, node, variables);
    }
    setters ??= settersOf(field, node);
    const args: Arguments = {};
    for (const set of setters) if (!set(args, variables)) return getArgumentValues(field, node, variables);
    return args;
  };
}

function settersOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Setter[] {
  const nodes = new Map(node.arguments?.map(({ name, value }) => [name.value, value]));
  return field.args.map((argument) => setterOf(argument, nodes.get(argument.name)));
}

function setterOf({ name, type, defaultValue }: GraphQLArgument, value: ValueNode | undefined): Setter {
  const setAbsent: Setter = (args) => {
    if (defaultValue !== undefined) args[name] = defaultValue;
    return defaultValue !== undefined || !isNonNullType(type);
  };
  if (!value) return setAbsent;
  if (value.kind === Kind.VARIABLE) {
    const variable = value.name.value;
    return (args, variables) => {
      if (!Object.hasOwn(variables, variable)) return setAbsent(args, variables);
      const coerced = variables[variable];
      if (coerced === undefined || (coerced === null && isNonNullType(type))) return false;
      args[name] = coerced;
      return true;
    };
  }
  const read = (variables?: Variables) => valueFromAST(value, type, variables);
  const set = (args: Arguments, coerced: unknown) => {
    if (coerced === undefined) return false;
    args[name] = coerced;
    return true;
  };
  if (containsVariable(value)) return (args, variables) => set(args, read(variables));
  const fixed = read();
  return (args) => set(args, fixed);
}
