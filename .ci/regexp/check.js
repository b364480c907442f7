// Every regular expression of src/ and every pattern of openapi.json, judged by recheck: none may take more than linear
// time. A text that one is matched against may be a megabyte long.
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'acorn';
import { simple } from 'acorn-walk';
import { check } from 'recheck';

const root = join(import.meta.dirname, '../..');

/** Where each expression stands, by the expression: `/…/flags`. */
const found = new Map();
function note(source, flags, place) {
  const key = `/${source}/${flags}`;
  const known = found.get(key) ?? { source, flags, places: [] };
  if (!known.places.includes(place)) known.places.push(place);
  found.set(key, known);
}

/** Places that make an expression when they run: `file:line`. */
const made = new Set();
for (const file of globSync(join(root, 'src/**/*.ts'))) {
  const text = readFileSync(file, 'utf8');
  // White space stands in for the types, so places stay what they are.
  const program = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module' });
  const placeOf = (node) => `${relative(root, file)}:${text.slice(0, node.start).split('\n').length}`;
  const isConstructor = ({ callee }) => callee.type === 'Identifier' && callee.name === 'RegExp';
  const noteMade = (node) => isConstructor(node) && made.add(placeOf(node));
  simple(program, {
    Literal: (node) => node.regex && note(node.regex.pattern, node.regex.flags, placeOf(node)),
    NewExpression: noteMade,
    CallExpression: noteMade,
  });
}

// What those make is seen by letting them run.
const Native = RegExp;
globalThis.RegExp = new Proxy(Native, {
  construct(target, [source, flags = ''], newTarget) {
    const made = Reflect.construct(
      target,
      [source, flags],
      newTarget === globalThis.RegExp ? target : newTarget,
    );
    const line = new Error().stack.split('\n').find((each) => each.includes(`${root}/src/`)) ?? '';
    const place = Native(`${root}/(src/.*?:\\d+)`).exec(line)?.[1];
    if (place) note(made.source, made.flags, place);
    return made;
  },
});
for (const place of made) await import(pathToFileURL(join(root, place.split(':')[0])).href);
await import(pathToFileURL(join(root, 'src/rest-compat/route-table.ts')).href);
globalThis.RegExp = Native;

const description = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'), (key, value) => {
  if (key === 'pattern' && typeof value === 'string') note(value, 'u', 'openapi.json');
  return value;
});
if (!description.openapi) throw new Error('openapi.json is no OpenAPI document.');

let wrong = 0;
const seen = new Set([...found.values()].flatMap(({ places }) => places));
for (const place of made) {
  if (seen.has(place)) continue;
  wrong += 1;
  console.log(
    `${place}: makes an expression that did not come to light; make it where the module is loaded.`,
  );
}
for (const [key, { source, flags, places }] of found) {
  const { status, complexity, error, attack } = await check(source, flags, { timeout: 20_000 });
  if (status === 'safe') continue;
  wrong += 1;
  const why = complexity?.summary ?? JSON.stringify(error);
  console.log(`${places.join(', ')}: ${key} is ${status}: ${why} ${attack?.pattern ?? ''}`);
}
console.log(`${found.size} regular expressions, ${made.size} places that make one: ${wrong} wrong.`);
process.exitCode = wrong === 0 ? 0 : 1;
