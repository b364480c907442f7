import type { SeenVersion } from '../../reference/memory.ts';

/**
 * Says which version of the workspace's reference data an answer knows. A client that sends it back, to whatever
 * process, never reads older ones; what cannot be met after one look (it is made up) is not waited for.
 */
export const versionHeader = 'x-workspace-version';

export function printVersion({ ref, tag }: SeenVersion): string {
  return `${ref}.${tag}`;
}

/** What the header holds; undefined when it is none of ours. */
export function parseVersion(header: string | string[] | undefined): SeenVersion | undefined {
  const [, ref, tag] = /^(\d{1,15})\.(\d{1,16})$/.exec(String(header ?? '')) ?? [];
  return ref === undefined ? undefined : { ref: Number(ref), tag: Number(tag) };
}
