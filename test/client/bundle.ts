import { join } from 'node:path';
import { build } from 'esbuild';

/** The client as a page would load it, with or without what its size is measured without. */
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
