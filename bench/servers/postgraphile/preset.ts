import { PgSimplifyInflectionPreset } from '@graphile/simplify-inflection';
import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter';
import type { Caller } from '../caller.ts';
import { callers, pool } from './database.ts';

declare global {
  namespace Grafast {
    interface Context {
      caller: Caller | undefined;
    }
  }
}

/** PostGraphile with the settings that its documentation recommends for production, with filters and short names. */
export const preset: GraphileConfig.Preset = {
  extends: [PostGraphileAmberPreset, PgSimplifyInflectionPreset, PostGraphileConnectionFilterPreset],
  // Otherwise it offers orders and filters only for leading columns of indexes that are not partial; most of ours are
  // partial.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  pgServices: [makePgService({ pool, schemas: ['public', 'bench'] })],
  schema: { connectionFilterRelations: true, connectionFilterComputedColumns: false },
  grafast: {
    explain: false,
    context: async (request) => {
      const authorization = request.node?.req.headers.authorization;
      const caller = await callers.find(authorization);
      if (!caller) return {};
      return { caller, pgSettings: { 'bench.viewer': caller.userAccountId } };
    },
  },
  grafserv: { graphiql: false, watch: false, graphqlPath: '/graphql' },
};
