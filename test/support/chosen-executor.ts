/** Whether graphql-js executes the queries of this run. The two executors need different numbers of statements. */
export const isGraphqlJs = ['graphql-js', 'reference'].includes(process.env.TEST_EXECUTOR ?? '');
