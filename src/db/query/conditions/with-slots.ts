import type { Values } from '../../statements/prepared.ts';
import { Slot } from '../../statements/slots.ts';
import { type Predicate, sqlValue } from './predicate.ts';

/**
 * Replaces each value in a predicate by a slot, and returns the values by the names of the slots. Predicates that
 * differ only in their values become equal, so they share a statement.
 */
export function withSlots(predicate: Predicate, prefix: string): { form: Predicate; values: Values } {
  const values: Record<string, unknown> = {};
  let count = 0;
  const slot = (value: unknown): Slot => {
    const name = `${prefix}${count}`;
    count += 1;
    values[name] = value;
    return new Slot(name);
  };
  const toForm = (part: Predicate): Predicate => {
    if ('all' in part) return { all: part.all.map(toForm) };
    if ('any' in part) return { any: part.any.map(toForm) };
    if ('not' in part) return { not: toForm(part.not) };
    if ('is' in part) {
      const { value } = part;
      return { ...part, value: slot(value instanceof Slot ? value : sqlValue(part.is, value)) };
    }
    if ('in' in part) return { ...part, in: slot(part.in) };
    if ('among' in part) return { ...part, among: slot(part.among) };
    if ('where' in part) return { ...part, where: toForm(part.where) };
    return part;
  };
  return { form: toForm(predicate), values };
}
