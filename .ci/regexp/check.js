// Checks every regular expression of src/ and every pattern of openapi.json with recheck: none may take more than linear
// time, because the text that it is matched against may be a megabyte long.
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'acorn';
import { simple } from 'acorn-walk';
import { check } from 'recheck';

const root = join(import.meta.dirname, '../..');

/** The expressions and the places where they are written, by `/…/flags`. */
const expressions = new Map();
function note(source, flags, place) {
  const key = `/${source}/${flags}`;
  const entry = expressions.get(key) ?? { source, flags, places: [] };
  if (!entry.places.includes(place)) entry.places.push(place);
  expressions.set(key, entry);
}

/** The places that call `RegExp`: `file:line`. */
const constructorPlaces = new Set();
for (const file of globSync(join(root, 'src/**/*.ts'))) {
  const text = readFileSync(file, 'utf8');
  // The types are replaced by white space, so lines keep their numbers.
  const program = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module' });
  const placeOf = (node) => `${relative(root, file)}:${text.slice(0, node.start).split('\n').length}`;
  const isConstructor = ({ callee }) => callee.type === 'Identifier' && callee.name === 'RegExp';
  const noteConstructor = (node) => isConstructor(node) && constructorPlaces.add(placeOf(node));
  simple(program, {
    Literal: (node) => node.regex && note(node.regex.pattern, node.regex.flags, placeOf(node)),
    NewExpression: noteConstructor,
    CallExpression: noteConstructor,
  });
}

// Only running those places shows which expressions they make.
const Native = RegExp;
globalThis.RegExp = new Proxy(Native, {
  construct(target, [source, flags = ''], newTarget) {
    const expression = Reflect.construct(
      target,
      [source, flags],
      newTarget === globalThis.RegExp ? target : newTarget,
    );
    const line = new Error().stack.split('\n').find((each) => each.includes(`${root}/src/`)) ?? '';
    const place = Native(`${root}/(src/.*?:\\d+)`).exec(line)?.[1];
    if (place) note(expression.source, expression.flags, place);
    return expression;
  },
});
for (const place of constructorPlaces) await import(pathToFileURL(join(root, place.split(':')[0])).href);
await import(pathToFileURL(join(root, 'src/rest-compat/route-table.ts')).href);
globalThis.RegExp = Native;

const description = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'), (key, value) => {
  if (key === 'pattern' && typeof value === 'string') note(value, 'u', 'openapi.json');
  return value;
});
if (!description.openapi) throw new Error('openapi.json is not an OpenAPI document.');

let wrong = 0;
const seen = new Set([...expressions.values()].flatMap(({ places }) => places));
for (const place of constructorPlaces) {
  if (seen.has(place)) continue;
  wrong += 1;
  console.log(
    `${place}: makes an expression that this check did not see; make it where the module is loaded.`,
  );
}
for (const [key, { source, flags, places }] of expressions) {
  const { status, complexity, error, attack } = await check(source, flags, { timeout: 20_000 });
  if (status === 'safe') continue;
  wrong += 1;
  const why = complexity?.summary ?? JSON.stringify(error);
  console.log(`${places.join(', ')}: ${key} is ${status}: ${why} ${attack?.pattern ?? ''}`);
}
console.log(
  `${expressions.size} regular expressions, ${constructorPlaces.size} places that make one: ${wrong} wrong.`,
);
process.exitCode = wrong === 0 ? 0 : 1;
