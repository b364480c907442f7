import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles the client as a page would load it, without the `external` packages. */
export async function bundleClient(external: string[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../../src/client/client.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
