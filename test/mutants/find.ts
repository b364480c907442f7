import { globSync, readFileSync } from 'node:fs';
import { parse } from '@babel/parser';

/** A guard in the source, and how it can be switched off. */
export interface Mutant {
  /** `tenant src/db/comments.ts:34 .where('workspaceId', '=', workspaceId)`. */
  name: string;
  /** A name without the number of the line, which edits above change: it names the surrounding declarations, with a number if that is not unique. */
  guard: string;
  kind: 'tenant' | 'scope' | 'limit' | 'check';
  file: string;
  start: number;
  end: number;
  /** The texts to put before and after the guard. `isOn` returns code that evaluates to whether the guard is on. */
  switched: (isOn: (how?: GuardEvent) => string) => readonly [before: string, after: string];
}

/** Whether a guard has refused something in a test, or the test has only reached it. */
export type GuardEvent = 'refused' | 'reached';

interface Node {
  type: string;
  start: number;
  end: number;
  loc: { start: { line: number } };
  [name: string]: unknown;
}

/** Finds every guard in the source by its syntax, without a list. */
export function findMutants(root: string): Mutant[] {
  const files = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.generated.ts'))
    .toSorted();
  const seen = new Map<string, number>();
  return files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    const tree = parse(text, { sourceType: 'module', plugins: ['typescript'] }) as unknown as Node;
    const found: Mutant[] = [];
    walk(tree.program as Node, [], (node, names) => {
      const guards = [
        tenant(node),
        bound(node, file, text),
        scope(node),
        limit(node, file, names),
        check(node, text),
      ];
      for (const guard of guards) {
        if (!guard) continue;
        const { kind, at, shown = at, switched } = guard;
        const code = text.slice(shown.start, shown.end).replace(/\s+/g, ' ').slice(0, 160);
        const identity = `${kind} ${file} ${names.slice(-2).join('.')} ${code}`;
        const count = (seen.get(identity) ?? 0) + 1;
        seen.set(identity, count);
        found.push({
          name: `${kind} ${file}:${at.loc.start.line} ${code.slice(0, 100)}`,
          guard: count > 1 ? `${identity} (${count})` : identity,
          kind,
          file,
          start: at.start,
          end: at.end,
          switched,
        });
      }
    });
    return found;
  });
}

type Guard = (Pick<Mutant, 'kind' | 'switched'> & { at: Node; shown?: Node }) | undefined;

const conditions = new Set(['where', 'whereRef', 'onRef', 'on']);

/** A condition on workspaceId in a chain: `.where('t.workspaceId', '=', …)`. Only unscoped statements have one. */
function tenant(node: Node): Guard {
  if (node.type !== 'CallExpression') return undefined;
  const callee = node.callee as Node;
  const [first] = node.arguments as Node[];
  const isCondition =
    callee.type === 'MemberExpression' && conditions.has(String((callee.property as Node).name));
  if (!isCondition || !first || !/(^|\.)workspaceId$/.test(String(first.value))) return undefined;
  return {
    kind: 'tenant',
    at: { ...node, start: (callee.object as Node).end },
    switched: (isOn) => [`.$call((it) => ${isOn()} ? it`, ' : it)'],
  };
}

/** The index of the argument that a call of the tenant plugin returns if it is switched off; undefined for a condition. */
const bindings: Readonly<Record<string, number | undefined>> = {
  condition: undefined,
  added: 0,
  ctes: 0,
  query: 0,
  node: 0,
  below: 0,
  parameters: 0,
  onConflict: 0,
  insertedInto: 1,
};

/** A call in the tenant plugin that adds a condition or a column, or that binds the queries below a node. */
function bound(node: Node, file: string, text: string): Guard {
  if (!file.startsWith('src/db/guard/') || node.type !== 'CallExpression') return undefined;
  const property = (node.callee as Node).property as Node | undefined;
  const name = String((property?.id as Node | undefined)?.name ?? property?.name);
  if (!Object.hasOwn(bindings, name)) return undefined;
  const argument = (node.arguments as Node[])[bindings[name] ?? Infinity];
  const unbound = argument ? text.slice(argument.start, argument.end) : '[]';
  const instead = name === 'ctes' ? `[${unbound}, outer]` : unbound;
  return { kind: 'tenant', at: node, switched: (isOn) => [`(${isOn()} ? `, ` : ${instead})`] };
}

/** The scope of a field, a type or a route, or the role for a type: `scope: 'issues:read'`, `managersOnly: 'webhooks'`. */
function scope(node: Node): Guard {
  if (node.type !== 'ObjectProperty') return undefined;
  const name = String((node.key as Node).name);
  const value = node.value as Node;
  if (name === 'managersOnly' && value.type === 'StringLiteral')
    return {
      kind: 'scope',
      at: value,
      shown: node,
      switched: (isOn) => [`(${isOn()} ? `, ' : undefined)'],
    };
  if (!['scope', 'fieldScope'].includes(name)) return undefined;
  const isRequired =
    (value.type === 'StringLiteral' && !['public', 'inherited'].includes(String(value.value))) ||
    value.type === 'ArrayExpression';
  const weaker = value.value === 'token' ? "'public'" : "'token'";
  return isRequired
    ? { kind: 'scope', at: value, shown: node, switched: (isOn) => [`(${isOn()} ? `, ` : ${weaker})`] }
    : undefined;
}

/** A limit: a number whose name says that it is a maximum, or that is declared in a file or an object of limits. */
function limit(node: Node, file: string, names: readonly string[]): Guard {
  const isNamed = node.type === 'VariableDeclarator' || node.type === 'ObjectProperty';
  // Numbers in the OpenAPI document limit nothing.
  if (!isNamed || file.startsWith('src/rest-compat/openapi/')) return undefined;
  const name = String(((node.id ?? node.key) as Node).name);
  const value = (node.init ?? node.value) as Node | undefined;
  const isLimit =
    /^(max|most|largest)|(Bytes|Ms|Limit)$/.test(name) ||
    file.endsWith('/limits.ts') ||
    names.includes('limits');
  // 0 is where a count starts, not a limit.
  return isLimit && value?.type === 'NumericLiteral' && value.value !== 0
    ? {
        kind: 'limit',
        at: value,
        shown: node,
        // Larger, but not infinite: a test that exceeds the limit by using this constant must end.
        switched: (isOn) => [`(${isOn()} ? `, ` : ${1_000 * Number(value.value)})`],
      }
    : undefined;
}

/** A statement that only refuses: a recorded violation, a call of a check, or an `if` that throws. */
function check(node: Node, text: string): Guard {
  if (node.type === 'ExpressionStatement') {
    const code = text.slice(node.start, node.end).replace(/^await /, '');
    const refuses =
      /^(\w+\.)*(check|require|verify|refuse|assert|throwIfAny)\w*\(|^\w*violations\.(add|addUnless)\(/i.test(
        code,
      );
    if (!refuses) return undefined;
    const [first] = ((node.expression as Node).arguments ?? []) as Node[];
    const isRule = /^\w*violations\.addUnless\(/i.test(code) && first;
    if (isRule)
      return { kind: 'check', at: first, shown: node, switched: (isOn) => ['((', `) || !${isOn()})`] };
    return {
      kind: 'check',
      at: node,
      switched: (isOn) => [
        `{ if (${isOn('reached')}) try { `,
        ` } catch (error) { ${isOn()}; throw error; } }`,
      ],
    };
  }
  if (node.type === 'IfStatement' && !node.alternate) {
    const then = text.slice((node.consequent as Node).start, (node.consequent as Node).end);
    const raises = /^\{?\s*(return\s+)?(raise|refuse|throw|tooComplex|violations\.add)\b/.test(then);
    const test = node.test as Node;
    return raises ? { kind: 'check', at: test, switched: (isOn) => ['((', `) && ${isOn()})`] } : undefined;
  }
  return undefined;
}

/** Visits every node, with the names of the functions, constants and properties around it. */
function walk(
  node: Node,
  names: readonly string[],
  visit: (node: Node, names: readonly string[]) => void,
): void {
  visit(node, names);
  const name = ((node.id ?? node.key) as Node | undefined)?.name;
  const path = typeof name === 'string' ? [...names, name] : names;
  for (const child of Object.values(node)) {
    for (const each of [child].flat()) {
      if (typeof each === 'object' && each !== null && 'type' in each && 'start' in each)
        walk(each as Node, path, visit);
    }
  }
}
