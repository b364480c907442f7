/**
 * The configuration of GraphQL Code Generator for documents of your own: `config` of its client preset, or of the plugins
 * typescript-operations and typed-document-node. Without it the scalars of workgraph would be `unknown`.
 */
export const codegenConfig = {
  scalars: {
    ID: 'string',
    /** 2026-02-11T12:00:00.000Z */
    DateTime: 'string',
    /** 2026-02-11 */
    Date: 'string',
    URL: 'string',
    RichText: 'workgraph/documents#RichText',
  },
  /** A scalar that is new in the schema is an error here until it is added above. */
  strictScalars: true,
  enumType: 'string-literal',
  useTypeImports: true,
} as const;
