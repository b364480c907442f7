import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({logLevel: 'info'});
}, 60_000);
afterAll(() => app.stop());

it('x', async () => {
  await team(app.database, app.workspaceId);
  const a = await app.graphql('{ viewer { member { displayName } scopes } teams { nodes { name members { totalCount } statuses { name } } } }');
  console.log(a.status, JSON.stringify(a.body), a.statements, [...a.headers]);
  const t = await app.tokenFor({ scopes: ['teams:read'], role: 'guest' });
  const b = await app.graphql('{ teams { nodes { name members { totalCount } } } }', {}, { token: t });
  console.log(b.status, JSON.stringify(b.body), b.statements, [...b.headers]);
  const c = await app.graphql('{ teams { nodes { name members { totalCount } } } }', {}, { token: t, headers: { accept: 'application/graphql-response+json'} });
  console.log(c.status, [...c.headers]);
  for (const tok of ['x', null]) { const d = await app.graphql('{ teams { totalCount } health { status } }', {}, { token: tok }); console.log(d.status, JSON.stringify(d.body), [...d.headers]); }
  console.log(JSON.stringify((await app.graphql('{ health { status } readiness { status } codes { name } }', {}, { token: null })).body).slice(0, 200));
  console.log((await app.request('GET', '/', {})).body, (await app.request('GET', '/v1/x', {})).body, );
  const g = await app.request('GET', '/graphql', { headers: { accept: 'text/html' }}); console.log(g.status, String(g.body).length, [...g.headers]);
});
