import type { Example } from '../../src/rest-compat/openapi/example.ts';
import type { OpenApi, OpenApiOperation } from '../support/openapi.ts';
import { exampleRequests } from './requests.ts';

/** An operation with its example, read only from the document. */
export interface DocumentedExample extends Example {
  /** `GET /v1/teams` */
  name: string;
  operation: OpenApiOperation;
}

/** The examples of a document, in the order in which they were recorded. */
export function documentedExamples({ paths }: OpenApi): DocumentedExample[] {
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
      ...exampleOf(operation),
    })),
  );
  const order = Object.keys(exampleRequests);
  return found.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

function exampleOf({ parameters = [], requestBody, responses }: OpenApiOperation): Example {
  const sent = parameters.flatMap(({ name, example }) =>
    example === undefined ? [] : [[name, Array.isArray(example) ? example : String(example)] as const],
  );
  const body = requestBody?.content['application/json']?.example;
  const answers = Object.entries(responses).flatMap(([status, { headers = {}, content }]) => {
    if (!/^2..$|^302$/.test(status)) return [];
    const shown = ['Location', 'Link'].flatMap((name) => {
      const example = headers[name]?.example;
      return example === undefined ? [] : [[name, example] as const];
    });
    const answer = content?.['application/json']?.example;
    return { status: Number(status), headers: Object.fromEntries(shown), ...(content && { body: answer }) };
  });
  return {
    request: { parameters: Object.fromEntries(sent), ...(body !== undefined && { body }) },
    // 201 for a created object comes before 200 for an existing one.
    answers: answers.toSorted((a, b) => b.status - a.status),
  };
}
