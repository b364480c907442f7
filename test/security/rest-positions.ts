import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import type { Naming } from '../../src/schema/builder/naming.ts';
import { type Sample, sampleValue } from './positions.ts';

/** A position in a request of a route whose value names an object. */
export interface RestPosition {
  /** `GET /v1/issues ?team_id`. */
  at: string;
  naming: Naming;
  /** Builds a request with the given value at the position, and samples of own objects for what else it needs. */
  request: (value: string) => { path: string; body?: Record<string, unknown> };
}

/** Finds every position in the path, the query and the body of a route that is declared to name an object. */
export function restPositions(route: Route, sample: Sample): RestPosition[] {
  const { method, path: template, parameters, body } = route;
  const fields = Object.entries(body?.fields ?? {});
  const required = fields.flatMap(([name, field]) =>
    field.kind === 'required' ? [[name, sampleOf(name, field.value, sample)] as const] : [],
  );
  // An update must change something.
  const [something] = fields.flatMap(([name, field]) =>
    field.kind === 'value' && !field.names ? [[name, sampleOf(name, field, sample)] as const] : [],
  );
  const needed = Object.fromEntries(body?.refusesEmpty && something ? [something] : required);
  const pathWith = (tried: string, value: string) =>
    template.replace(/\{(\w+)\}/g, (_whole, name: string) => {
      const parameter = parameters[name];
      const names = parameter && 'names' in parameter ? parameter.names : undefined;
      return name === tried ? value : names ? sample(names) : 'matrix';
    });
  const inParameters = Object.entries(parameters).flatMap(([name, parameter]): RestPosition[] => {
    const naming = namingIn(parameter);
    if (!naming) return [];
    const inPath = parameter.kind === 'path';
    return [
      {
        at: `${method} ${template} ${inPath ? '' : '?'}${name}`,
        naming,
        request: (value) => ({
          path: pathWith(name, value) + (inPath ? '' : `?${new URLSearchParams({ [name]: value })}`),
          ...(body && { body: needed }),
        }),
      },
    ];
  });
  const inBody = fields.flatMap(([name, field]): RestPosition[] => {
    const value = field.kind === 'required' ? field.value : field;
    const naming = value.kind === 'value' ? value.names : undefined;
    if (!naming || value.kind !== 'value') return [];
    const isList = value.schema.type === 'array';
    return [
      {
        at: `${method} ${template} .${name}`,
        naming,
        request: (given) => ({
          path: pathWith('', ''),
          body: { ...needed, [name]: isList ? [given] : given },
        }),
      },
    ];
  });
  return [...inParameters, ...inBody];
}

/** What a parameter names. If it may be repeated or has a default, what each value names. */
function namingIn(parameter: Route['parameters'][string]): Naming | undefined {
  if (parameter.kind === 'many' || parameter.kind === 'default') return parameter.value.names;
  return 'names' in parameter ? parameter.names : undefined;
}

function sampleOf(
  name: string,
  { names, schema }: { names?: Naming | undefined; schema: JsonSchema },
  sample: Sample,
): unknown {
  if (names) return sample(names);
  const { type, format, enum: known } = schema as { type?: string; format?: string; enum?: unknown[] };
  if (known) return known[0];
  return sampleValue(name, format === 'uri' ? 'URL' : type === 'integer' ? 'Int' : 'String');
}

/** Builds a valid request of the route with samples of own objects. */
export function sampleRequest(
  route: Route,
  sample: Sample,
): { path: string; body?: Record<string, unknown> } {
  const position = restPositions(route, sample).find(({ naming }) => naming.by !== 'cursor');
  return position ? position.request(sample(position.naming)) : { path: route.path };
}
