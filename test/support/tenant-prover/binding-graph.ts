/** A claim about a table reference or an output column: its rows belong to one bound workspace. */
export interface Fact {
  known: boolean;
  /** The number of premises that are still open. A fact that any single premise proves starts at 1. */
  open: number;
  readonly proves: Fact[];
}

/** Creates a fact that becomes known with any one of its premises. */
export function anyOf(...premises: readonly Fact[]): Fact {
  const fact: Fact = { known: false, open: 1, proves: [] };
  for (const premise of premises) imply(premise, fact);
  return fact;
}

/** Creates a fact that becomes known with the last of its premises, and never without premises. */
export function allOf(premises: readonly Fact[]): Fact {
  const fact: Fact = { known: false, open: Math.max(premises.length, 1), proves: [] };
  for (const premise of premises) imply(premise, fact);
  return fact;
}

/** Adds a premise to a conclusion. */
export function imply(premise: Fact, conclusion: Fact): void {
  premise.proves.push(conclusion);
}

/** Marks everything that follows from one axiom. It is the least fixed point: a circle of facts proves nothing about itself. */
export function settle(axiom: Fact): void {
  axiom.known = true;
  const agenda = [axiom];
  for (let fact = agenda.pop(); fact; fact = agenda.pop()) {
    for (const conclusion of fact.proves) {
      conclusion.open -= 1;
      if (conclusion.known || conclusion.open > 0) continue;
      conclusion.known = true;
      agenda.push(conclusion);
    }
  }
}
