import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  validate,
} from 'graphql';

/** Does a document ask the schema about itself; `__typename` does not. */
export function asksForSchema(schema: GraphQLSchema, document: DocumentNode): boolean {
  return validate(schema, document, [NoSchemaIntrospectionCustomRule], { maxErrors: 1 }).length > 0;
}

/** The error without the names that graphql-js offers in place of a wrong one: they tell the schema piece by piece. */
export function withoutSuggestions(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  const message = error.message.replace(/ Did you mean [^?]*\?$/, '');
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}
