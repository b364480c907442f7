/** The SQL name of a table or column: `issue_text` for `issueText`. */
export function inSql(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The TypeScript name of a column: `issueText` for `issue_text`. */
export function fromSql(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
