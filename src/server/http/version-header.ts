import type { SeenVersion } from '../../reference/memory.ts';

/**
 * The header with the version of the reference data that an answer is based on. A client that sends it back, to any process, never
 * reads an older version. A version that a check does not find, because the client has invented it, is ignored.
 */
export const versionHeader = 'x-workspace-version';

export function printVersion({ ref, tag }: SeenVersion): string {
  return `${ref}.${tag}`;
}

/** The later of two versions that a client has sent. */
export function laterVersion(
  one: SeenVersion | undefined,
  other: SeenVersion | undefined,
): SeenVersion | undefined {
  return one && other ? (other.ref > one.ref ? other : one) : (one ?? other);
}

/** Reads the header. Undefined when it has another form. */
export function parseVersion(header: string | readonly string[] | undefined): SeenVersion | undefined {
  const [, ref, tag] = /^(\d{1,15})\.(\d{1,16})$/.exec(String(header ?? '')) ?? [];
  return ref === undefined ? undefined : { ref: Number(ref), tag: Number(tag) };
}
