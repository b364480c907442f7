import { createServer } from 'node:http';
import { GraphQLError } from 'graphql';
import { useSofa } from 'sofa-api';
import { callers } from '../plain/database.ts';
import { createLoaders } from '../plain/loaders.ts';
import { schema } from './schema.ts';

/** A REST API that is generated from a schema: each route runs an operation that sofa makes. */
const sofa = useSofa({
  basePath: '/v1',
  schema,
  routes: { 'Query.comments': { method: 'GET', path: '/issues/:key/comments' } },
  context: async ({ request }: { request: Request }) => {
    const caller = await callers.find(request.headers.get('authorization'));
    if (!caller) throw new GraphQLError('The token is not good.', { extensions: { http: { status: 401 } } });
    return { caller, loaders: createLoaders(caller) };
  },
});

createServer((request, response) => {
  if (request.url === '/health')
    response.setHeader('content-type', 'application/json').end('{"status":"ok"}');
  else void sofa(request, response);
}).listen(Number(process.env['PORT']), '127.0.0.1');
