import { type FileAnswer, ownAsset } from './static-file.ts';

/** The drawing that stands for the service in a tab. */
export const iconPath = '/assets/icon.svg';

/** What the landing page loads, and the icon that browsers ask every host for. */
export const sharedPaths: readonly (readonly [path: string, answer: FileAnswer])[] = [
  ['/assets/page.css', ownAsset('page.css')],
  ['/assets/landing.css', ownAsset('landing.css')],
  ['/assets/landing.js', ownAsset('landing.js')],
  [iconPath, ownAsset('icon.svg')],
  ['/favicon.ico', ownAsset('icon.svg')],
];
