import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Random } from '../support/random.ts';
import { schema } from '../../src/schema/index.ts';
import { RandomFilters } from './random-filters.ts';
import { inputType, objectType } from './schema-walk.ts';
import type { Model } from './model.ts';

/** A document that is valid for the schema, with its variables. Its arguments may still be refused at run time. */
export interface RandomQuery {
  query: string;
  variables: Record<string, unknown>;
}

/** A mutation with its input. */
export interface RandomWrite {
  name: string;
  input: Record<string, unknown>;
}

/** Fields whose values change over time or differ between servers. */
const unstable =
  /^(signed\w+|rateLimit|readiness|accessToken|accessTokens|auditEntries|codes|uploadUrl|uploadExpiresUtc)$/;

/**
 * Makes queries of every shape that the schema permits: aliases, fragments of both kinds, `@skip` and `@include`,
 * variables and literals, connections in both directions with filters, orders and cursors, and sometimes an argument that
 * is refused at run time.
 */
export class RandomQueries {
  readonly #model: Model;
  readonly #random: Random;
  readonly #filters: RandomFilters;
  /** Cursors of unfiltered lists in their default order, by type of row. */
  readonly #cursors: ReadonlyMap<string, readonly string[]>;
  #variables = new Map<string, { type: string; value: unknown }>();
  #fragments: string[] = [];
  #names = 0;

  constructor(model: Model, random: Random, cursors: ReadonlyMap<string, readonly string[]>) {
    this.#model = model;
    this.#random = random;
    this.#filters = new RandomFilters(model, random);
    this.#cursors = cursors;
  }

  query(): RandomQuery {
    return this.#document('query', () => this.#selection(objectType('Query'), this.#random.integer(1, 4)));
  }

  /** Makes one mutation of these writes, each with a random selection. */
  mutation(writes: readonly RandomWrite[]): RandomQuery {
    return this.#document('mutation', () => {
      const roots = writes.map(({ name, input }, index) => {
        const field = objectType('Mutation').getFields()[name];
        if (!field) throw new Error(`There is no ${name}.`);
        const [argument] = field.args;
        const args = this.#variable(String(argument?.type), input);
        const payload = objectType(getNamedType(field.type).name);
        const selection = this.#selection(payload, this.#random.integer(1, 3));
        return `w${index}: ${name}(input: ${args}) ${selection}`;
      });
      return `{ ${roots.join(' ')} }`;
    });
  }

  #document(kind: 'query' | 'mutation', select: () => string): RandomQuery {
    this.#variables = new Map();
    this.#fragments = [];
    this.#names = 0;
    const selection = select();
    const declared = [...this.#variables].map(([name, { type }]) => `$${name}: ${type}`);
    const head = declared.length > 0 ? `${kind} Random(${declared.join(', ')})` : `${kind} Random`;
    const variables = [...this.#variables].map(([name, { value }]) => [name, value] as const);
    return {
      query: [`${head} ${selection}`, ...this.#fragments].join('\n'),
      variables: Object.fromEntries(variables),
    };
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter(
      (field) => !unstable.test(field.name) && (depth > 0 || isLeafType(getNamedType(field.type))),
    );
    const chosen = this.#random.sample(fields, this.#random.integer(1, depth > 2 ? 3 : 5));
    const selections = chosen.map((field) => this.#field(field, depth));
    if (selections.length === 0 || this.#random.chance(0.1)) selections.push('__typename');
    // Repeats a field, so that its selections are merged.
    if (chosen[0] && this.#random.chance(0.1)) selections.push(this.#field(chosen[0], depth));
    return `{ ${selections.map((selection) => this.#wrapped(selection, type)).join(' ')} }`;
  }

  /** The selection unchanged, in a fragment, or under a condition. */
  #wrapped(selection: string, type: GraphQLObjectType): string {
    if (this.#random.chance(0.85)) return selection;
    const condition = this.#random.chance(0.5) ? this.#condition() : '';
    if (this.#random.chance(0.3)) return `... ${condition} { ${selection} }`;
    if (this.#random.chance(0.5)) return `... on ${type.name} ${condition} { ${selection} }`;
    const name = `F${this.#next()}`;
    this.#fragments.push(`fragment ${name} on ${type.name} { ${selection} }`);
    return `...${name} ${condition}`;
  }

  #condition(): string {
    const directive = this.#random.pick(['skip', 'include']);
    const value = this.#random.chance(0.5);
    return `@${directive}(if: ${this.#random.chance(0.5) ? value : this.#variable('Boolean!', value)})`;
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const { args, alias } = this.#arguments(field);
    const head = `${alias}${field.name}${args}`;
    const type = getNamedType(field.type);
    if (isObjectType(type)) return `${head} ${this.#selection(type, depth - 1)}`;
    return isInterfaceType(type) ? `${head} ${this.#anyNode(depth)}` : head;
  }

  /** A selection on Node: its own fields, and those of some types. */
  #anyNode(depth: number): string {
    const node = schema.getType('Node');
    const types = isInterfaceType(node) ? schema.getPossibleTypes(node) : [];
    const some = this.#random.sample(types, 3).filter(({ name }) => name !== 'AccessToken');
    const selections = some.map((type) => `... on ${type.name} ${this.#selection(type, depth - 2)}`);
    return `{ __typename id ${selections.join(' ')} }`;
  }

  /** A field with arguments gets a unique alias, because fields with the same name must have the same arguments. */
  #arguments(field: GraphQLField<unknown, unknown>): { args: string; alias: string } {
    const args = this.#argumentsFor(field);
    const alias = args.length > 0 || this.#random.chance(0.1) ? `a${this.#next()}: ` : '';
    return { args: args.length > 0 ? `(${args.join(', ')})` : '', alias };
  }

  #argumentsFor(field: GraphQLField<unknown, unknown>): string[] {
    const row = getNamedType(field.type).name.replace('Connection', '');
    const byName = new Map(field.args.map((arg) => [arg.name, arg]));
    if (byName.has('orderBy')) return this.#page(row);
    return field.args
      .filter((arg) => isNonNullType(arg.type) || this.#random.chance(0.5))
      .map((arg) => `${arg.name}: ${this.#variable(String(arg.type), this.#value(field, arg))}`);
  }

  #value({ name, type }: GraphQLField<unknown, unknown>, arg: GraphQLArgument): unknown {
    const named = getNamedType(type).name;
    if (arg.name === 'filter') return this.#filters.filter('Issue');
    if (arg.name === 'every') return this.#random.pick(['DAY', 'WEEK', 'MONTH']);
    if (arg.name === 'timeZone') return this.#random.pick(['UTC', 'America/New_York', 'Nowhere']);
    if (arg.name === 'from' || arg.name === 'to') {
      const day = arg.name === 'to' ? this.#random.integer(50, 300) : this.#random.integer(-100, 60);
      return new Date(Date.UTC(2026, 0, day)).toISOString().slice(0, 10);
    }
    if (arg.name === 'first') return this.#random.integer(1, 20);
    if (arg.name === 'groupBy') return this.#random.sample(groups, this.#random.integer(0, 2));
    if (arg.name === 'ids' || arg.name === 'codes')
      return Array.from({ length: 3 }, () => this.#nameOf('Team', arg.name));
    return this.#nameOf(name === 'node' ? this.#random.pick(['Issue', 'Team', 'Comment']) : named, arg.name);
  }

  /** The id, key or code of an object of the type, or an unknown one. */
  #nameOf(typeName: string, argument: string): string {
    if (this.#random.chance(0.1))
      return this.#random.pick(['', 'nothing', 'ENG-0', 'team_00000000000000000000000000']);
    const object = this.#random.find(this.#model.all(typeName));
    const name = object?.[argument === 'ids' ? 'id' : argument === 'codes' ? 'code' : argument];
    return typeof name === 'string' ? name : 'nothing';
  }

  #page(row: string): string[] {
    const args: string[] = [];
    const size = this.#random.chance(0.03) ? this.#random.pick([0, 251, -1]) : this.#random.integer(1, 4);
    const backward = this.#random.chance(0.3);
    if (this.#random.chance(0.8)) args.push(`${backward ? 'last' : 'first'}: ${this.#int(size)}`);
    const filtered = this.#random.chance(0.3);
    if (filtered) args.push(`filter: ${this.#variable(`${row}Filter`, this.#filters.filter(row))}`);
    const ordered = this.#random.chance(0.4);
    if (ordered) args.push(`orderBy: ${this.#order(row)}`);
    if (this.#random.chance(0.3)) {
      const cursors = filtered || ordered ? [] : (this.#cursors.get(row) ?? []);
      const cursor = this.#random.find(cursors) ?? (this.#random.chance(0.2) ? 'garbage' : '');
      args.push(`${backward ? 'before' : 'after'}: ${this.#variable('String', cursor)}`);
    }
    return args;
  }

  #int(value: number): string {
    return this.#random.chance(0.5) ? String(value) : this.#variable('Int', value);
  }

  #order(row: string): string {
    const field = getNamedType(inputType(`${row}Order`).getFields().field?.type);
    const values = field && 'getValues' in field ? field.getValues().map(({ name }) => name) : [];
    const order = { field: this.#random.pick(values), direction: this.#random.pick(['ASC', 'DESC']) };
    if (this.#random.chance(0.5)) return this.#variable(`${row}Order`, order);
    return `{ field: ${order.field}, direction: ${order.direction} }`;
  }

  #variable(type: string, value: unknown): string {
    const name = `v${this.#next()}`;
    this.#variables.set(name, { type, value });
    return `$${name}`;
  }

  #next(): number {
    this.#names += 1;
    return this.#names;
  }
}

const groups = ['STATUS', 'STATUS_CATEGORY', 'TEAM', 'PROJECT', 'DELIVERY', 'ASSIGNEE', 'PRIORITY', 'LABEL'];
