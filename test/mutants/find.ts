import { globSync, readFileSync } from 'node:fs';
import { parse } from '@babel/parser';

/** One guard of the source taken away. */
export interface Mutant {
  /** `tenant src/db/comments.ts:34 .where('workspaceId', '=', workspaceId)`. */
  name: string;
  kind: 'tenant' | 'scope' | 'limit' | 'check';
  file: string;
  start: number;
  end: number;
  /** What stands there instead. */
  put: string;
}

interface Node {
  type: string;
  start: number;
  end: number;
  loc: { start: { line: number } };
  [name: string]: unknown;
}

/** Every guard that the source has, found by its form: nothing is listed by hand. */
export function findMutants(root: string): Mutant[] {
  const files = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.generated.ts') && !file.startsWith('src/cli/demo/'))
    .toSorted();
  return files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    const tree = parse(text, { sourceType: 'module', plugins: ['typescript'] }) as unknown as Node;
    const found: Mutant[] = [];
    walk(tree.program as Node, (node) => {
      for (const spoiled of [tenant(node), scope(node), limit(node, file), check(node, text)]) {
        if (!spoiled) continue;
        const { kind, at, put } = spoiled;
        const shown = text.slice(at.start, at.end).replace(/\s+/g, ' ').slice(0, 100);
        const name = `${kind} ${file}:${at.loc.start.line} ${shown}`;
        found.push({ name, kind, file, start: at.start, end: at.end, put });
      }
    });
    return found;
  });
}

type Spoiled = { kind: Mutant['kind']; at: Node; put: string } | undefined;

const conditions = new Set(['where', 'whereRef', 'onRef', 'on']);

/** A condition on workspaceId in a chain: `.where('t.workspaceId', '=', …)`. */
function tenant(node: Node): Spoiled {
  if (node.type !== 'CallExpression') return undefined;
  const callee = node.callee as Node;
  const [first] = node.arguments as Node[];
  const isCondition =
    callee.type === 'MemberExpression' && conditions.has(String((callee.property as Node).name));
  if (!isCondition || !/(^|\.)workspaceId$/.test(String(first?.value))) return undefined;
  const object = callee.object as Node;
  return { kind: 'tenant', at: { ...node, start: object.end }, put: '' };
}

/** What a field, a type or a route needs: `scope: 'issues:read'`. */
function scope(node: Node): Spoiled {
  if (node.type !== 'ObjectProperty') return undefined;
  if (!['scope', 'fieldScope'].includes(String((node.key as Node).name))) return undefined;
  const value = node.value as Node;
  const isNeed =
    (value.type === 'StringLiteral' && value.value !== 'public') || value.type === 'ArrayExpression';
  return isNeed
    ? { kind: 'scope', at: value, put: value.value === 'token' ? "'public'" : "'token'" }
    : undefined;
}

/** A limit: a number by the name of a most, or one of the limits' and the configuration's own. */
function limit(node: Node, file: string): Spoiled {
  const isNamed = node.type === 'VariableDeclarator' || node.type === 'ObjectProperty';
  if (!isNamed) return undefined;
  const name = String(((node.id ?? node.key) as Node).name);
  const value = (node.init ?? node.value) as Node | undefined;
  const isLimit = /^(max|most|largest)|(Bytes|Ms|Limit)$/.test(name) || file.endsWith('/limits.ts');
  return isLimit && value?.type === 'NumericLiteral'
    ? { kind: 'limit', at: value, put: '1_000_000_000' }
    : undefined;
}

/** A statement that only refuses: a violation that is noted, a call of what checks, an `if` that raises. */
function check(node: Node, text: string): Spoiled {
  if (node.type === 'ExpressionStatement') {
    const said = text.slice(node.start, node.end).replace(/^await /, '');
    const refuses = /^(\w+\.)*(check|require|verify|refuse|assert)\w*\(|^\w*violations\.(that|add)\(/i.test(
      said,
    );
    return refuses ? { kind: 'check', at: node, put: ';' } : undefined;
  }
  if (node.type === 'IfStatement' && !node.alternate) {
    const then = text.slice((node.consequent as Node).start, (node.consequent as Node).end);
    const raises = /^\{?\s*(return\s+)?(raise|refuse|throw|tooComplex|violations\.add)\b/.test(then);
    return raises ? { kind: 'check', at: node.test as Node, put: 'false' } : undefined;
  }
  return undefined;
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of Object.values(node)) {
    for (const each of [child].flat()) {
      if (typeof each === 'object' && each !== null && 'type' in each && 'start' in each)
        walk(each as Node, visit);
    }
  }
}
