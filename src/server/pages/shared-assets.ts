import { type FileAnswer, ownAsset } from './static-file.ts';

/** The icon of the service in a browser tab. */
export const iconPath = '/assets/icon.svg';

/** The files that the start page and GraphiQL load, and the icon that browsers request from every host. */
export const sharedPaths: readonly (readonly [path: string, answer: FileAnswer])[] = [
  ['/assets/page.css', ownAsset('page.css')],
  ['/assets/start-page.css', ownAsset('start-page.css')],
  ['/assets/start-page.js', ownAsset('start-page.js')],
  ['/assets/graphiql.css', ownAsset('graphiql.css')],
  ['/assets/graphiql.js', ownAsset('graphiql.js')],
  [iconPath, ownAsset('icon.svg')],
  ['/favicon.ico', ownAsset('icon.svg')],
];
