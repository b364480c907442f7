import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// A process that imports this file first writes the names of the packages that it has loaded, when it ends, to the file
// that WORKGRAPH_TEST_PACKAGES names.
const packages = new Set();
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
    if (name) packages.add(name);
    return nextLoad(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.WORKGRAPH_TEST_PACKAGES, JSON.stringify([...packages])));
