import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenApi, restPromises } from './rest-promises.ts';

// Records the current schema and REST API as the released ones: `npm run contract:release`, with each release. From then
// on, compatibility.test.ts refuses a change that breaks them.
const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

writeFileSync(join(import.meta.dirname, 'schema.graphql'), read('schema.graphql'));
const { offers, demands } = restPromises(JSON.parse(read('openapi.json')) as OpenApi);
const promises = { offers: [...offers].sort(), demands: [...demands].sort() };
writeFileSync(join(import.meta.dirname, 'rest.json'), `${JSON.stringify(promises, undefined, 1)}\n`);
