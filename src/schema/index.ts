import { specifiedDirectives } from 'graphql';
import { builder } from './builder/builder.ts';
import { requiresScopes } from './builder/scopes.ts';
import './builder/fields.ts';
import './builder/lists.ts';
import './builder/scalars.ts';
import './query.ts';
import './issue-stats.ts';
import './issue-trends.ts';
import './access-token-mutations.ts';
import './issue-mutations.ts';
import './comment-mutations.ts';
import './link-mutations.ts';
import './attachment-mutations.ts';
import './agent-mutations.ts';
import './webhook-mutations.ts';
import './mutation.ts';
import './nodes.ts';
import './changes.ts';
import './subscription.ts';

/** The executable schema. Importing a type's file declares the type with the builder. */
export const schema = builder.toSchema({ directives: [...specifiedDirectives, requiresScopes] });
