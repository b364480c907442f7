/** The name of a table or column as PostgreSQL has it: `issueText` is `issue_text`. */
export function inSql(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The name in TypeScript of a column that PostgreSQL calls this. */
export function fromSql(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
