import {
  type ASTVisitFn,
  type ASTNode,
  type ASTVisitor,
  BREAK,
  getEnterLeaveForKind,
  Kind,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { subscriptionRootRule } from './subscription-root.ts';

type Handler = ASTVisitFn<ASTNode>;

/** The indexes of the rules that visit nodes of one kind: when such a node is entered, and when it is left. */
interface KindRules {
  readonly kind: Kind;
  readonly enter: readonly number[];
  readonly leave: readonly number[];
}

/** The rules of graphql-js, of which one is replaced by a stricter one of a later specification. */
export const rules: readonly ValidationRule[] = specifiedRules.map((rule) =>
  rule === SingleFieldSubscriptionsRule ? subscriptionRootRule : rule,
);

/** Computed with the first document; it is the same for all documents. */
let rulesByKind: readonly KindRules[] | undefined;

/**
 * All rules as one visitor. graphql-js would ask every rule at every node whether it visits that kind of node, although few rules
 * do. Here each node is passed only to the rules that visit its kind, in the same order.
 */
export function allRules(context: ValidationContext): ASTVisitor {
  const visitors = rules.map((rule) => rule(context));
  rulesByKind ??= Object.values(Kind).map((kind) => rulesOfKind(visitors, kind));
  /** For each rule, the node whose children it skips. */
  const skipped: unknown[] = visitors.map(() => undefined);
  let skips = 0;
  const record = (rule: number, result: unknown, node: ASTNode) => {
    if (result !== false && result !== BREAK) return;
    skipped[rule] = result === false ? node : BREAK;
    skips += 1;
  };
  const merged: Record<string, { enter: Handler; leave: Handler }> = {};
  for (const { kind, enter, leave } of rulesByKind) {
    const entering = enter.map((rule) => getEnterLeaveForKind(visitors[rule] as ASTVisitor, kind).enter);
    const leaving = leave.map((rule) => getEnterLeaveForKind(visitors[rule] as ASTVisitor, kind).leave);
    merged[kind] = {
      enter: (node, key, parent, path, ancestors) => {
        for (let index = 0; index < enter.length; index += 1) {
          const rule = enter[index] as number;
          if (skipped[rule] !== undefined) continue;
          record(rule, entering[index]?.call(visitors[rule], node, key, parent, path, ancestors), node);
        }
      },
      leave: (node, key, parent, path, ancestors) => {
        for (let index = 0; index < leave.length; index += 1) {
          const rule = leave[index] as number;
          if (skipped[rule] !== undefined) continue;
          const result: unknown = leaving[index]?.call(visitors[rule], node, key, parent, path, ancestors);
          if (result === BREAK) record(rule, result, node);
        }
        if (skips === 0) return;
        for (const rule of enter) {
          if (skipped[rule] !== node) continue;
          skipped[rule] = undefined;
          skips -= 1;
        }
      },
    };
  }
  return merged;
}

function rulesOfKind(visitors: readonly ASTVisitor[], kind: Kind): KindRules {
  const indexesOf = (when: 'enter' | 'leave') =>
    visitors.flatMap((visitor, rule) => (getEnterLeaveForKind(visitor, kind)[when] ? [rule] : []));
  return { kind, enter: indexesOf('enter'), leave: indexesOf('leave') };
}
