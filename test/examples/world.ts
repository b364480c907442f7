import type { Settings } from '../../src/server/config.ts';
import { type App, startApp } from '../support/app.ts';

/** Where the examples' addresses lead. */
const exampleOrigin = 'https://work.example.com';

/** Serves the workspace of the examples; its owner, with all scopes, is who asks. */
export function startExampleWorld(settings: Settings = {}): Promise<App> {
  return startApp({ content: 'examples', settings: { PUBLIC_URL: exampleOrigin, ...settings } });
}
