/** Does graphql-js answer the queries of this run; the compiled executor needs other numbers of statements. */
export const isGraphqlJs = ['graphql-js', 'reference'].includes(process.env.TEST_EXECUTOR ?? '');
