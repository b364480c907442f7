/** The largest value of an `Int` of GraphQL and of an `integer` of PostgreSQL. */
export const maxInt32 = 2_147_483_647;
