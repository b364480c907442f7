import { resources } from './specification.ts';

/** The fields that may be null by contract.md ("Null and empty on REST"), although the specification has a plain type. */
const nullable: Readonly<Record<string, readonly string[]>> = {
  Issue: ['primaryAssigneeUserAccountId', 'projectId', 'deliveryId', 'project', 'delivery', 'estimateValue'],
  Project: ['targetUtc'],
  'Project detail': ['targetUtc', 'startUtc'],
};

/** Shapes that the specification leaves open and contract.md decides. */
const openShapes: Readonly<Record<string, readonly string[]>> = {
  roleAssignments: ['role', 'userAccountId', 'displayName'],
};

/** Lists the differences between a value and the specification's table: in fields, their order and their types. */
export function differences(value: unknown, resource: string, at = resource): string[] {
  const fields = resources[resource];
  if (!fields) return [`${at}: the specification has no table for ${resource}`];
  if (!isRecord(value)) return [`${at} is not an object`];
  const expected = fields.map(({ name }) => name);
  const wrong = keyDifference(value, expected, at);
  return [
    ...wrong,
    ...fields.flatMap(({ name, type }) => {
      const field = value[name];
      if (field === null && nullable[resource]?.includes(name)) return [];
      return typeDifferences(field, name, type, `${at}.${name}`);
    }),
  ];
}

function keyDifference(value: Record<string, unknown>, expected: readonly string[], at: string): string[] {
  const found = Object.keys(value).join(' ');
  return found === expected.join(' ') ? [] : [`${at} has the fields ${found} and not ${expected.join(' ')}`];
}

function typeDifferences(value: unknown, name: string, type: string, at: string): string[] {
  const [base = '', isOptional] = type.split(' or null');
  if (isOptional !== undefined && value === null) return [];
  if (base === 'RichText') return richTextDifferences(value, at);
  if (resources[base]) return differences(value, base, at);
  if (base === 'array' || base.startsWith('array of') || base.endsWith(' array')) {
    if (!Array.isArray(value)) return [`${at} is not a list`];
    return value.flatMap((each, index) => elementDifferences(each, name, base, `${at}[${index}]`));
  }
  const test = tests[base];
  if (!test) return [`${at}: the specification's type ${base} is not known here`];
  return test(value) ? [] : [`${at} is ${JSON.stringify(value)} and no ${base}`];
}

function elementDifferences(value: unknown, name: string, type: string, at: string): string[] {
  const named = type.replace(/ array$/, '');
  if (named !== type) return typeDifferences(value, name, named, at);
  // `{ name: string, key: string, color: string }`: all of its fields are strings.
  const written = Array.from(type.matchAll(/(\w+): string/g), ([, field = '']) => field);
  const expected = openShapes[name] ?? written;
  if (!isRecord(value)) return [`${at} is not an object`];
  const texts = Object.entries(value).filter(([, each]) => typeof each !== 'string');
  return [...keyDifference(value, expected, at), ...texts.map(([field]) => `${at}.${field} is not a string`)];
}

const tests: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  timestamp: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
};

function richTextDifferences(value: unknown, at: string): string[] {
  if (!isRecord(value) || !isRecord(value['content'])) return [`${at} is not a rich text`];
  const { content: doc } = value;
  const paragraphs = doc['content'];
  const isDoc = value['schemaVersion'] === 1 && doc['type'] === 'doc' && Array.isArray(paragraphs);
  const isWhole = isDoc && paragraphs.every((node) => isNode(node, 'paragraph') && isText(node['content']));
  const extra = [...Object.keys(value), ...Object.keys(doc)].join(' ');
  return isWhole && extra === 'schemaVersion content type content' ? [] : [`${at} is not a rich text`];
}

function isText(nodes: unknown): boolean {
  return (
    Array.isArray(nodes) && nodes.every((node) => isNode(node, 'text') && tests['string']?.(node['text']))
  );
}

function isNode(node: unknown, type: string): node is Record<string, unknown> {
  return isRecord(node) && node['type'] === type;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
