/** What openapi.json promises to clients, as lines that can be compared with those of another version. */
export interface RestPromises {
  /** What clients may use: none of it may go away, or get another type. */
  readonly offers: ReadonlySet<string>;
  /** What clients must send: nothing may be added to what they send already. */
  readonly demands: ReadonlySet<string>;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly deprecated?: boolean;
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
interface Operation {
  readonly deprecated?: boolean;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly deprecated?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Who writes the values of a schema: a client, or the server. */
type Direction = 'sent' | 'answered';

/** Reads the promises of a document. What is deprecated is not among them, so the next version may remove it. */
export function restPromises({ paths, components }: OpenApi): RestPromises {
  const offers = new Set<string>();
  const demands = new Set<string>();
  const walked = new Set<string>();

  const walk = (schema: Schema, at: string, direction: Direction): void => {
    if (schema.deprecated) return;
    offers.add(`${at}: ${typeOf(schema)}`);
    if (direction === 'sent')
      for (const value of schema.enum ?? []) offers.add(`${at} may be ${String(value)}`);
    walkBelow(schema, at, direction);
  };

  const walkBelow = (schema: Schema, at: string, direction: Direction): void => {
    if (schema.$ref !== undefined) return walkComponent(nameOf(schema.$ref), direction);
    if (schema.items) walkBelow(schema.items, `${at}[]`, direction);
    for (const one of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) walkBelow(one, at, direction);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(name) ?? false;
      if (isRequired && direction === 'sent') demands.add(`${at}.${name} is required`);
      if (isRequired && direction === 'answered' && !property.deprecated)
        offers.add(`${at}.${name} is there`);
      walk(property, `${at}.${name}`, direction);
    }
  };

  const walkComponent = (name: string, direction: Direction): void => {
    const at = `${name} (${direction})`;
    const schema = components.schemas[name];
    if (!schema || walked.has(at)) return;
    walked.add(at);
    walkBelow(schema, at, direction);
  };

  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.deprecated || !operation.responses) continue;
      const at = `${method.toUpperCase()} ${path}`;
      offers.add(at);
      for (const parameter of operation.parameters ?? []) {
        const where = `${at} ${parameter.in} ${parameter.name}`;
        if (parameter.required) demands.add(`${where} is required`);
        if (!parameter.deprecated) walk(parameter.schema, where, 'sent');
      }
      if (operation.requestBody?.required) demands.add(`${at} body is required`);
      for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {}))
        walk(schema ?? {}, `${at} body ${type}`, 'sent');
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (status.startsWith('2')) offers.add(`${at} may answer ${status}`);
        for (const [type, { schema }] of Object.entries(content))
          if (status.startsWith('2')) walk(schema ?? {}, `${at} ${status} ${type}`, 'answered');
      }
    }
  return { offers, demands };
}

function typeOf({ $ref, type, items, oneOf, anyOf }: Schema): string {
  if ($ref !== undefined) return nameOf($ref);
  if (items) return `list of ${typeOf(items)}`;
  const several = oneOf ?? anyOf;
  if (several) return several.map(typeOf).toSorted().join(' or ');
  return [type ?? 'any'].flat().toSorted().join(' or ');
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Describes, in a line each, what an API breaks of the released one. */
export function brokenPromises(released: RestPromises, now: RestPromises): string[] {
  const missing = [...released.offers].filter((offer) => !now.offers.has(offer));
  // A new operation may demand anything, because no client uses it yet.
  const isOld = (demand: string) => {
    const [operation = ''] = /^[A-Z]+ \S+/.exec(demand) ?? [];
    return operation === '' || released.offers.has(operation);
  };
  const added = [...now.demands].filter((demand) => !released.demands.has(demand) && isOld(demand));
  return [...missing.map((offer) => `gone: ${offer}`), ...added.map((demand) => `new: ${demand}`)];
}
