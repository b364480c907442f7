import { join } from 'node:path';
import { sql } from 'kysely';
import { inProcess } from '../cli/workgraph.ts';
import type { App } from '../support/app.ts';
import { startExampleWorld } from '../examples/world.ts';
import { readRecipes, type Trial } from './recipe.ts';

// Runs in a copy of the repository to which the recipes were applied: starts its server and prints, as JSON, what each
// request of each recipe returns.
const world = await startExampleWorld();
try {
  const answers: Record<string, unknown[]> = {};
  for (const { title, trials } of readRecipes(join(import.meta.dirname, '../..'))) {
    const trialAnswers: unknown[] = [];
    for (const trial of trials) trialAnswers.push(await answerTo(world, trial, trialAnswers.at(-1)));
    answers[title] = trialAnswers;
  }
  process.stdout.write(JSON.stringify(answers));
} finally {
  await world.stop();
}

/** The answer to one request. A document with the variable `$id` gets the first id of the answer before. */
async function answerTo(app: App, { kind, text }: Trial, before: unknown): Promise<unknown> {
  if (kind === 'sql') {
    await sql.raw(text).execute(app.database.unscoped);
    return undefined;
  }
  if (kind === 'http') {
    const [method = '', path = ''] = text.split(' ');
    return (await app.request(method, path)).body;
  }
  if (kind === 'console') {
    const [, name = '', words = ''] = /^npx workgraph (\w+ \w+) (.*)$/.exec(text) ?? [];
    const { stdout, stderr } = await inProcess(app, name, words.split(' '));
    return stdout ? (JSON.parse(stdout) as unknown) : stderr;
  }
  const [, id] = /"id":"([^"]+)"/.exec(JSON.stringify(before ?? null)) ?? [];
  const { body } = await app.graphql(text, text.includes('$id') ? { id } : {});
  return body.errors ? body : body.data;
}
