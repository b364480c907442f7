/** Whether JSON is nested deeper than so many objects and lists. No deeper than that does it look, so it needs little stack. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isNestedDeeper(item, levels - 1)) return true;
    return false;
  }
  // Of an object with very many members, the names are had in half the time that its values take.
  for (const name of Object.keys(value)) {
    if (isNestedDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  }
  return false;
}
