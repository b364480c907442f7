import fastify from 'fastify';
import mercurius from 'mercurius';
import { callers } from './database.ts';
import { createLoaders } from './loaders.ts';
import { schema } from './schema.ts';

const app = fastify();
await app.register(mercurius, {
  schema,
  jit: 1,
  graphiql: false,
  context: async (request) => {
    const caller = await callers.find(request.headers.authorization);
    if (!caller)
      throw new mercurius.ErrorWithProps('The token is not good.', { code: 'UNAUTHENTICATED' }, 401);
    return { caller, loaders: createLoaders(caller) };
  },
});
app.get('/health', () => ({ status: 'ok' }));
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
