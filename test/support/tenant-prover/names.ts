/** One spelling for a name in camelCase and in snake_case: some statements are read before they are renamed. */
export function fold(name: string): string {
  return (name.includes('_') ? name.replaceAll('_', '') : name).toLowerCase();
}
