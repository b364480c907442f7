import './mutations.ts';
import './queries.ts';
import { builder } from './builder.ts';

/** The schema of two servers that execute it differently: Yoga with graphql-js, and mercurius with graphql-jit. */
export const schema = builder.toSchema();
