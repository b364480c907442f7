/** Whether JSON is nested deeper than so many objects and lists; level by level, so that no depth costs stack. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let containers = [value].filter(isContainer);
  for (let level = 0; level < levels && containers.length > 0; level += 1) {
    containers = containers.flatMap((container) => Object.values(container)).filter(isContainer);
  }
  return containers.length > 0;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
