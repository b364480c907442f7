/**
 * The type of the value at a dotted path of response names, null included where an object on the way may be null. A
 * list has its first item at `0`, and the path '' leads to the source itself.
 */
export type ValueAt<Source, Path extends string> = Path extends ''
  ? Source
  : Path extends `${infer Name}.${infer Rest}`
    ? ValueAt<NonNullable<Step<Source, Name>>, Rest> | Extract<Step<Source, Name>, null>
    : Step<Source, Path>;

type Step<Source, Name extends string> = Source extends readonly (infer Item)[]
  ? Name extends '0'
    ? Item | null
    : NoSuchField<Name>
  : Name extends keyof Source
    ? Source[Name]
    : NoSuchField<Name>;

/** The type of a path that does not exist. No field and no reply accepts it, so a wrong path does not compile. */
interface NoSuchField<Name> {
  readonly noSuchField: Name;
}

/** The names in a dotted path, from the outermost object inwards. */
export function stepsOf(path: string): readonly string[] {
  return path === '' ? [] : path.split('.');
}

/** The value at a path; null if an object on the way is null. */
export function valueAt(source: unknown, steps: readonly string[]): unknown {
  let value = source;
  for (const step of steps) {
    if (value === null || value === undefined) return null;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}
