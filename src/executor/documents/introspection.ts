import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  validate,
} from 'graphql';
import { addLocations } from './document-source.ts';

/** Whether a document selects `__schema` or `__type`. */
export function asksForSchema(schema: GraphQLSchema, document: DocumentNode): boolean {
  return validate(schema, document, [NoSchemaIntrospectionCustomRule], { maxErrors: 1 }).length > 0;
}

/** The error without the names that graphql-js suggests, which would reveal the schema piece by piece. */
export function withoutSuggestions(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  const at = error.message.endsWith('?') ? error.message.lastIndexOf(' Did you mean ') : -1;
  const message = at < 0 ? error.message : error.message.slice(0, at);
  return addLocations(
    new GraphQLError(message, { nodes, source, positions, path, originalError, extensions }),
  );
}
