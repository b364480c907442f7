import { createServer } from 'node:http';
import { GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { callers } from './database.ts';
import { createLoaders } from './loaders.ts';
import { schema } from './schema.ts';

const yoga = createYoga({
  schema,
  logging: false,
  landingPage: false,
  graphiql: false,
  healthCheckEndpoint: '/health',
  context: async ({ request }: { request: Request }) => {
    const caller = await callers.find(request.headers.get('authorization'));
    if (!caller)
      throw new GraphQLError('The token is not good.', {
        extensions: { code: 'UNAUTHENTICATED', http: { status: 401 } },
      });
    return { caller, loaders: createLoaders(caller) };
  },
});

createServer((request, response) => void yoga(request, response)).listen(
  Number(process.env['PORT']),
  '127.0.0.1',
);
