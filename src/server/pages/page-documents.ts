import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hashOf, type Manifest } from '../../executor/documents/manifest.ts';
import { type FileAnswer, textAnswer } from './static-file.ts';

/** The modules of `assets/app` that contain the queries of the pages. Browsers load the same files. */
export const queryModules = ['dashboard', 'boards', 'board', 'issue', 'project'].map(
  (page) => `${page}-queries` as const,
);

const modules = await Promise.all(
  queryModules.map(async (name) => {
    const path = join(import.meta.dirname, 'assets/app', `${name}.js`);
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, string>>;
  }),
);

/**
 * All documents that the pages send, by their hashes. A server knows them from the start, so that its pages work even
 * if it accepts only trusted documents.
 */
export const pageDocuments: Manifest = new Map(
  modules.flatMap((module) => Object.values(module)).map((text) => [hashOf(text), text]),
);

/**
 * A module that gives the pages the ids of their documents, because a browser computes SHA-256 itself only over https
 * and on localhost.
 */
export const documentIds: FileAnswer = textAnswer('.js', () => {
  const ids = [...pageDocuments].map(([id, text]) => [operationName.exec(text)?.[1] ?? '', id]);
  return `export const documentIds = ${JSON.stringify(Object.fromEntries(ids))};\n`;
});

const operationName = /^(?:query|subscription) (\w+)/m;
