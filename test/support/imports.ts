import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** An import or a re-export of a module. */
export interface Import {
  /** The importing file, relative to the root. */
  path: string;
  /** The imported file relative to the root, or a package's specifier. */
  target: string;
  /** `import type …`; a `{ type X }` between values still loads the module, so it does not count. */
  isTypeOnly: boolean;
  /** A dynamic import, `import('…')`. */
  isDynamic: boolean;
}

/** Finds static imports and re-exports at the start of a line, bare imports, and `import('…')`. */
export function importsOf({ path, text }: { path: string; text: string }): Import[] {
  const statement = /^(?:import|export)\s+(type\s)?(?:[^'";=]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;
  const call = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [
    ...Array.from(text.matchAll(statement), ([, type, specifier = '']) => ({
      type,
      specifier,
      isDynamic: false,
    })),
    ...Array.from(text.matchAll(call), ([, specifier = '']) => ({
      type: undefined,
      specifier,
      isDynamic: true,
    })),
  ].map(({ type, specifier, isDynamic }) => ({
    path,
    target: specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier,
    isTypeOnly: type !== undefined,
    isDynamic,
  }));
}

/** Finds all modules that a module may load, directly or indirectly, including dynamic imports. */
export function loadedBy(root: string): (module: string) => ReadonlySet<string> {
  const cache = new Map<string, readonly string[]>();
  const targetsOf = (path: string): readonly string[] => {
    const cached = cache.get(path);
    if (cached) return cached;
    const file = join(root, path);
    const isSource = /\.[jt]s$/.test(path) && existsSync(file);
    const imports = isSource ? importsOf({ path, text: readFileSync(file, 'utf8') }) : [];
    const targets = imports.filter(({ isTypeOnly }) => !isTypeOnly).map(({ target }) => target);
    cache.set(path, targets);
    return targets;
  };
  return (module) => {
    const seen = new Set([module]);
    // The iteration also visits modules that are added to the set during it.
    for (const path of seen) for (const target of targetsOf(path)) seen.add(target);
    return seen;
  };
}
