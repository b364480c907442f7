import { stepsOf } from '../paths.ts';
import { ownParameter, type Success } from '../replies.ts';
import type { Route } from '../route.ts';
import type { OpenApiObject } from './components.ts';

/** The operation ids of routes in the document. */
export type OperationIds = ReadonlyMap<Route, string>;

/**
 * The links of the response to a POST: to the routes that read, change and delete the resource, or to its list if the
 * resource has no path of its own to be read at.
 */
export function linksOf(route: Route, { created }: Success, ids: OperationIds): OpenApiObject {
  if (route.method !== 'POST') return {};
  const at = (path: string | undefined) => [...ids.keys()].filter((target) => target.path === path);
  const own = at(created?.path);
  const isReadAlone = own.some(({ method }) => method === 'GET');
  const lists = isReadAlone ? [] : at(route.path).filter(({ method }) => method === 'GET');
  const links = [...own, ...lists].map((target) => {
    const operationId = ids.get(target) ?? '';
    return [operationId, { operationId, description: target.summary, parameters: namesIn(target, created) }];
  });
  return { links: Object.fromEntries(links) };
}

/**
 * The sources of the path parameters of the target: the id or key of the resource comes from the response, the others
 * from the request.
 */
function namesIn({ path }: Route, created: Success['created']): OpenApiObject {
  const own = created && ownParameter(created);
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => [
    name,
    created && name === own
      ? `$response.body#/${stepsOf(created.namedAt).join('/')}`
      : `$request.path.${name}`,
  ]);
  return Object.fromEntries(names);
}
