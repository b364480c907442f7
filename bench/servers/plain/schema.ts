import './mutations.ts';
import './queries.ts';
import { builder } from './builder.ts';

/** One schema for the servers that differ in how they run it: graphql-js behind Yoga, graphql-jit behind mercurius. */
export const schema = builder.toSchema();
