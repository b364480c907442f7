import { stepsOf } from '../paths.ts';
import { resourceParameter, type Success } from '../replies.ts';
import type { Route } from '../route.ts';
import type { OpenApiObject } from './components.ts';

/** The operation ids of routes in the document. */
export type OperationIds = ReadonlyMap<Route, string>;

/**
 * The links of the response to a POST: to the routes that read, change and delete the resource, and to its list if no
 * route reads the resource by itself.
 */
export function linksOf(route: Route, { created }: Success, ids: OperationIds): OpenApiObject {
  if (route.method !== 'POST') return {};
  const routesAt = (path: string | undefined) => [...ids.keys()].filter((target) => target.path === path);
  const resourceRoutes = routesAt(created?.path);
  const hasReadRoute = resourceRoutes.some(({ method }) => method === 'GET');
  const lists = hasReadRoute ? [] : routesAt(route.path).filter(({ method }) => method === 'GET');
  const links = [...resourceRoutes, ...lists].map((target) => {
    const operationId = ids.get(target) ?? '';
    return [
      operationId,
      { operationId, description: target.summary, parameters: parameterSources(target, created) },
    ];
  });
  return { links: Object.fromEntries(links) };
}

/**
 * The sources of the path parameters of the target: the id or key of the resource comes from the response, the others
 * from the request.
 */
function parameterSources({ path }: Route, created: Success['created']): OpenApiObject {
  const resourceName = created && resourceParameter(created);
  const sources = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => [
    name,
    created && name === resourceName
      ? `$response.body#/${stepsOf(created.parameterValuePath).join('/')}`
      : `$request.path.${name}`,
  ]);
  return Object.fromEntries(sources);
}
