import {
  astFromValue,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  print,
} from 'graphql';
import { plainListCost } from '../../executor/limits.ts';
import { operationIds } from '../../rest-compat/openapi/document.ts';
import type { Route } from '../../rest-compat/route.ts';
import { routeTable } from '../../rest-compat/route-table.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import type { RowsOf } from '../../schema/builder/plan.ts';
import type { ScopeNeed } from '../../schema/builder/scopes.ts';
import { descriptionHtml, escapeHtml } from './html.ts';
import { findUses, type TypeUses } from './schema-uses.ts';

/** The content of the pages of the schema: one that lists all types, and one for each. */
export interface SchemaPages {
  index(): string;
  /** Undefined if there is no such type. */
  type(name: string): { description: string; main: string } | undefined;
}

export function createSchemaPages(schema: GraphQLSchema): SchemaPages {
  const types = Object.values(schema.getTypeMap()).filter(isListed);
  const usesOf = findUses(schema, routeTable);
  const ids = operationIds(routeTable);
  const list = typeList(types);
  return {
    index: () => `<div class="reference">${list}
      <div class="content">
        <header class="page-head"><div><p class="eyebrow">GraphQL</p><h1>Schema</h1></div></header>
        <p class="lead">Every type of the graph, in the words of the schema itself. Begin with <a href="/schema/Query">Query</a>, or with an
        <a href="/schema/Issue">Issue</a>. Each field names the scope that a token needs for it and what it adds to the
        <a href="#cost">cost</a> of an operation.</p>
        ${groupsOf(types)
          .map(
            ([title, members]) =>
              `<section><h2>${title}</h2><dl class="types">${members
                .map((type) => `<div><dt>${typeLink(type.name)}</dt><dd>${firstSentence(type)}</dd></div>`)
                .join('')}</dl></section>`,
          )
          .join('')}
        <section id="cost"><h2>Cost</h2><p>The cost of an operation is the number of objects that it could return. A field of an
        object adds 1 for each parent, a page as many as it could have rows, a plain list ${plainListCost}; values are free. An
        operation may cost 10,000, unless the server is configured otherwise.</p></section>
      </div></div>`,
    type(name) {
      const type = types.find((candidate) => candidate.name === name);
      if (!type) return undefined;
      return {
        description: type.description ?? `The type ${name} of the graph.`,
        main: `<div class="reference">${list}<article class="content">${typeHtml(type, usesOf(name), ids)}</article></div>`,
      };
    },
  };
}

function isListed(type: GraphQLNamedType): boolean {
  return !type.name.startsWith('__') && !isSpecifiedScalarType(type);
}

const isRoot = ({ name }: GraphQLNamedType) => ['Query', 'Mutation', 'Subscription'].includes(name);
const isPage = ({ name }: GraphQLNamedType) => /(Connection|Edge)$|^PageInfo$/.test(name);
const isPayload = ({ name }: GraphQLNamedType) => name.endsWith('Payload');

const groups: readonly (readonly [title: string, includesType: (type: GraphQLNamedType) => boolean])[] = [
  ['Where operations begin', isRoot],
  [
    'Objects',
    (type) =>
      (isObjectType(type) || isInterfaceType(type)) && !isRoot(type) && !isPage(type) && !isPayload(type),
  ],
  ['Sets of values', isEnumType],
  ['Scalars', isScalarType],
  ['Filters and orders', (type) => isInputObjectType(type) && /(Filter|Order)$/.test(type.name)],
  ['Inputs of mutations', (type) => isInputObjectType(type) && !/(Filter|Order)$/.test(type.name)],
  ['Answers of mutations', isPayload],
  ['Pages of lists', isPage],
];

function groupsOf(types: readonly GraphQLNamedType[]) {
  return groups.map(([title, includesType]) => [title, types.filter(includesType)] as const);
}

function typeList(types: readonly GraphQLNamedType[]): string {
  const items = groupsOf(types).slice(0, 4);
  return `<nav class="type-list" aria-label="Types">${items
    .map(
      ([title, members]) =>
        `<h2>${title}</h2><ul>${members.map(({ name }) => `<li>${typeLink(name)}</li>`).join('')}</ul>`,
    )
    .join('')}<p><a href="/schema">All types</a></p></nav>`;
}

const typeLink = (name: string) => `<a href="/schema/${name}">${name}</a>`;

function firstSentence({ description }: GraphQLNamedType): string {
  return descriptionHtml(/^.*?\.(?= |$)/s.exec(description ?? '')?.[0] ?? description ?? '');
}

function typeHtml(type: GraphQLNamedType, uses: TypeUses, ids: ReadonlyMap<Route, string>): string {
  return `<header class="page-head"><div>
      <p class="eyebrow"><a href="/schema">Schema</a> / ${kindOf(type)}</p>
      <h1>${type.name}</h1>
    </div></header>
    <p class="lead">${descriptionHtml(type.description ?? '')}</p>
    ${membersHtml(type)}
    ${usesHtml('Returned by', uses.returnedBy)}
    ${usesHtml('Accepted by', uses.acceptedBy)}
    ${routesHtml(uses.routes, ids)}`;
}

function kindOf(type: GraphQLNamedType): string {
  if (isEnumType(type)) return 'set of values';
  if (isInputObjectType(type)) return 'input';
  if (isInterfaceType(type)) return 'interface';
  return isScalarType(type) ? 'scalar' : 'object';
}

function membersHtml(type: GraphQLNamedType): string {
  if (isEnumType(type)) {
    const values = type.getValues().map(({ name, description }) => memberHtml({ name, description }));
    return section('Values', values);
  }
  if (isInputObjectType(type)) return section('Fields', Object.values(type.getFields()).map(inputHtml));
  if (!isObjectType(type) && !isInterfaceType(type)) return '';
  return section(
    'Fields',
    Object.values(type.getFields()).map((field) => fieldHtml(field)),
  );
}

function section(title: string, members: readonly string[]): string {
  return `<section><h2>${title}</h2><dl class="members">${members.join('')}</dl></section>`;
}

interface Member {
  readonly name: string;
  readonly description: string | null | undefined;
  /** The text after the name, as HTML. */
  readonly signature?: string;
  /** Small facts below the description, as HTML. */
  readonly facts?: readonly string[];
  readonly more?: string;
}

function memberHtml({ name, description, signature = '', facts = [], more = '' }: Member): string {
  return `<div id="${name}"><dt><a class="anchor" href="#${name}"><code>${name}</code></a><code>${signature}</code></dt>
    <dd><p>${descriptionHtml(description ?? '')}</p>${more}${facts.length ? `<p class="facts">${facts.join('')}</p>` : ''}</dd></div>`;
}

function inputHtml({ name, description, type, defaultValue }: GraphQLInputField): string {
  return memberHtml({
    name,
    description,
    signature: `: ${typeHtmlOf(type)}${defaultHtml({ type, defaultValue })}`,
  });
}

function fieldHtml(field: GraphQLField<unknown, unknown>): string {
  const { name, description, args, type } = field;
  return memberHtml({
    name,
    description,
    signature: `${args.length ? '(…)' : ''}: ${typeHtmlOf(type)}`,
    facts: [
      `<span>Scope: ${scopeHtml(extensionsOf(field).scope)}</span>`,
      `<span>Cost: ${costOf(field)}</span>`,
    ],
    more: args.length
      ? `<details><summary>${args.length === 1 ? '1 argument' : `${args.length} arguments`}<span class="visually-hidden"> of ${name}</span></summary><dl class="arguments">${args.map(argumentHtml).join('')}</dl></details>`
      : '',
  });
}

/** The scopes that a field needs. Without its own, it needs those of the fields that return its type. */
function scopeHtml(need: ScopeNeed | undefined): string {
  if (need === undefined) return 'none of its own';
  if (need === 'public') return 'no token needed';
  if (need === 'token') return 'any token';
  const scopes = typeof need === 'string' ? [need] : need;
  return scopes.map((scope) => `<code>${scope}</code>`).join(' or ');
}

function argumentHtml({ name, description, type, defaultValue }: GraphQLArgument): string {
  return `<div><dt><code>${name}: ${typeHtmlOf(type)}${defaultHtml({ type, defaultValue })}</code></dt><dd>${descriptionHtml(description ?? '')}</dd></div>`;
}

function defaultHtml({ type, defaultValue }: Pick<GraphQLArgument, 'type' | 'defaultValue'>): string {
  const node = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  return node ? ` = ${escapeHtml(print(node))}` : '';
}

/** A type in GraphQL syntax, with its name as a link. */
function typeHtmlOf(type: GraphQLType): string {
  if (isNonNullType(type)) return `${typeHtmlOf(type.ofType)}!`;
  if (isListType(type)) return `[${typeHtmlOf(type.ofType)}]`;
  return isSpecifiedScalarType(type) ? type.name : typeLink(type.name);
}

/** What a field adds to the cost of an operation for each parent, by the formula in docs/limits.md. */
function costOf({ type, args, extensions }: GraphQLField<unknown, unknown>): string {
  const namedType = getNamedType(type);
  if (!isCompositeType(namedType) || /Edge$|^PageInfo$/.test(namedType.name)) return 'free';
  const { rows } = extensions as { rows?: RowsOf };
  if ('periods' in extensions) return 'one for each period and group';
  if (rows && args.some(({ name }) => name === 'first')) {
    const defaults = Object.fromEntries(args.map(({ name, defaultValue }) => [name, defaultValue]));
    const defaultRows = rows(defaults);
    return `<code>first</code>${Number.isFinite(defaultRows) ? `, by default ${defaultRows}` : ''}`;
  }
  if (rows) return 'as many as the arguments name';
  const list = isNonNullType(type) ? type.ofType : type;
  return isListType(list) ? `${plainListCost}, whatever it holds` : '1';
}

/** A list of the fields or arguments that use a type. */
function usesHtml(title: string, coordinates: readonly string[]): string {
  if (coordinates.length === 0) return '';
  const items = coordinates.map((coordinate) => {
    const [, type = '', field = ''] = /^(\w+)\.(\w+)/.exec(coordinate) ?? [];
    return `<li><a href="/schema/${type}#${field}"><code>${coordinate}</code></a></li>`;
  });
  return `<section><h2>${title}</h2><ul class="uses">${items.join('')}</ul></section>`;
}

function routesHtml(routes: readonly Route[], ids: ReadonlyMap<Route, string>): string {
  if (routes.length === 0) return '';
  const items = routes.map((route) => {
    const tag = /^\/v1\/([a-z-]+)/.exec(route.path)?.[1] ?? 'health';
    return `<li><a href="/v1/docs#/${tag}/${ids.get(route) ?? ''}"><code>${route.method} ${route.path}</code></a> ${escapeHtml(route.summary)}</li>`;
  });
  return `<section><h2>REST routes that use it</h2><ul class="routes">${items.join('')}</ul></section>`;
}
