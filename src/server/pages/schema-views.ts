import type { GraphQLSchema } from 'graphql';
import { pagePolicy } from './content-security.ts';
import { createSchemaPages } from './schema-page.ts';
import { pageHtml } from './shell.ts';
import { type FileAnswer, pageAnswer } from './static-file.ts';

/** Finds the page of the schema at a path: `/schema` lists the types, `/schema/Issue` describes one. */
export function createSchemaViews(schema: GraphQLSchema): (path: string) => FileAnswer | undefined {
  const pages = createSchemaPages(schema);
  const answers = new Map<string, FileAnswer>();
  const answerOf = (title: string, description: string, main: string) =>
    pageAnswer(
      () =>
        pageHtml({
          title: `${title} – workgraph`,
          description,
          section: '/schema',
          styles: ['/assets/app/app.css', '/assets/app/schema.css'],
          modules: [],
          main,
          explorer: true,
        }),
      pagePolicy,
    );
  const make = (path: string): FileAnswer | undefined => {
    if (path === '/schema') return answerOf('Schema', 'Every type of the graph.', pages.index());
    const name = /^\/schema\/(\w+)$/.exec(path)?.[1];
    const page = name === undefined ? undefined : pages.type(name);
    return page && answerOf(name ?? '', page.description, page.main);
  };
  return (path) => {
    const answer = answers.get(path) ?? make(path);
    // Only existing pages are cached, so the cache is no larger than the schema.
    if (answer) answers.set(path, answer);
    return answer;
  };
}
