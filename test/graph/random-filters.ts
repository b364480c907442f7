import { getNamedType, isEnumType, isInputObjectType, isListType } from 'graphql';
import type { Random } from '../support/random.ts';
import type { Filter } from './model-queries.ts';
import { inputType } from './schema-walk.ts';
import type { ModelObject, Model } from './model.ts';

const combinators = ['and', 'or', 'not'] as const;
/** The maximum depth of relations that the API accepts in a filter. */
const maxRelations = 3;

/** Makes filters of every kind that an input permits, mostly with values that occur in the model. */
export class RandomFilters {
  readonly #model: Model;
  readonly #random: Random;

  constructor(model: Model, random: Random) {
    this.#model = model;
    this.#random = random;
  }

  /** Makes a filter for a type, with a few levels of combinators and relations. */
  filter(typeName: string, depth = 0, relations = 0): Filter {
    const fieldsOf = Object.values(inputType(`${typeName}Filter`).getFields());
    const tests = fieldsOf
      .filter(({ name }) => !combinators.some((each) => each === name))
      .filter(({ type }) => relations < maxRelations || !isRelation(getNamedType(type)))
      .map(({ name }) => name);
    const chosen = this.#random.sample(tests, this.#random.integer(depth === 0 ? 1 : 0, 2));
    const fields = Object.fromEntries(
      chosen.map((name) => [name, this.field(typeName, name, depth, relations)]),
    );
    if (depth >= 3 || this.#random.chance(0.5)) return fields;
    const [combinator = 'not'] = this.#random.sample(combinators, 1);
    const nested = () => this.filter(typeName, depth + 1, relations);
    const list = Array.from({ length: this.#random.integer(0, 3) }, nested);
    return { ...fields, [combinator]: combinator === 'not' ? nested() : list };
  }

  /** Makes a test of one field, which is sometimes null, as if it were left out. */
  field(typeName: string, name: string, depth: number, relations = 0): Filter | null {
    if (this.#random.chance(0.03)) return null;
    const input = getNamedType(inputType(`${typeName}Filter`).getFields()[name]?.type);
    if (!isInputObjectType(input)) throw new Error(`${typeName}Filter has no ${name}.`);
    if (input.name.endsWith('ListFilter')) {
      const below = () => this.filter(input.name.replace('ListFilter', ''), depth + 1, relations + 1);
      const quantifiers = this.#random.sample(['some', 'none'], this.#random.integer(1, 2));
      return Object.fromEntries(quantifiers.map((quantifier) => [quantifier, below()]));
    }
    if (isRelation(input)) return this.filter(input.name.replace('Filter', ''), depth + 1, relations + 1);
    const comparators = this.#random.sample(Object.keys(input.getFields()), this.#random.chance(0.8) ? 1 : 2);
    return Object.fromEntries(
      comparators.map((each) => [each, this.#operand(typeName, name, input.name, each)]),
    );
  }

  #operand(typeName: string, name: string, inputName: string, comparator: string): unknown {
    if (this.#random.chance(0.03)) return null;
    if (comparator === 'isNull') return this.#random.chance(0.5);
    const type = inputType(inputName).getFields()[comparator]?.type;
    const values = this.#values(typeName, name, inputName);
    if (isListType(type)) return this.#random.sample(values, this.#random.integer(0, 4));
    const value = this.#random.find(values) ?? null;
    return typeof value === 'string' && inputName === 'StringFilter' ? this.#text(value, comparator) : value;
  }

  /** Values of the field in the model, and a few that do not occur. */
  #values(typeName: string, name: string, inputName: string): unknown[] {
    const own = this.#model.all(typeName).map((object: ModelObject) => object[name]);
    const type = getNamedType(inputType(inputName).getFields().eq?.type);
    const strange = isEnumType(type)
      ? type.getValues().map((value) => value.name)
      : (strangers[inputName] ?? []);
    return [...new Set([...own, ...strange])].filter((value) => value !== null && value !== undefined);
  }

  /** Varies the case and the accents of a text, or takes a substring of it. */
  #text(text: string, comparator: string): string {
    const [from, length] = [this.#random.integer(0, 3), this.#random.integer(1, 5)];
    const characters = Array.from(text);
    if (comparator === 'contains')
      return this.#letters(characters.slice(from, from + length).join('') || text);
    return this.#letters(comparator === 'startsWith' ? characters.slice(0, length).join('') : text);
  }

  /** Varies case and accents, except of letters that change in the other case (ß, SS). */
  #letters(text: string): string {
    const others = [text.toUpperCase(), text.toLowerCase(), text.normalize('NFD')];
    const same = others.filter(
      (variant) => variant.toLowerCase().normalize() === text.toLowerCase().normalize(),
    );
    return this.#random.pick([text, ...same]);
  }
}

const strangers: Readonly<Record<string, readonly unknown[]>> = {
  BooleanFilter: [true, false],
  IntFilter: [-2_147_483_648, -1, 0, 2_147_483_647],
  StringFilter: ['', '%', '_', '\\', "'", 'no such thing'],
  DateFilter: ['0001-01-01', '9999-12-31'],
  DateTimeFilter: ['0001-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'],
};

/** Whether the input filters related objects instead of comparing values. */
function isRelation(input: unknown): boolean {
  return isInputObjectType(input) && (input.name.endsWith('ListFilter') || 'and' in input.getFields());
}
