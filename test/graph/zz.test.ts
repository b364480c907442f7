import { afterAll, beforeAll, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
let app: App;
beforeAll(async () => { app = await startApp({ demo: true }); }, 120000);
afterAll(async () => { await app.stop(); });
it('x', async () => {
  const q = async (text: string, v = {}) => { const t = performance.now(); const a = await app.graphql(text, v); console.log(text.slice(0, 200), a.statements, Math.round(performance.now() - t), JSON.stringify(a.body).slice(0, 1500)); };
  await q('{ viewer { member { displayName role } workspace { name } } issues { totalCount } teams { totalCount nodes { code name memberCount nextIssueNumber } } projects { totalCount nodes { key name state team { code } } } members { totalCount } workspace { labels { totalCount nodes { name isGroup group { name } team { code } } } projectStatuses { nodes { name } } } }');
  await q('{ issueStats(groupBy: [TEAM, STATUS_CATEGORY]) { team { code } statusCategory count estimateSum } }');
  await q('{ issues(filter: { parent: { team: { code: { eq: "PLT" } } } }) { totalCount } }');
  await q('{ issues(filter: { parent: { parent: { team: { code: { eq: "PLT" } } } } }) { totalCount } }');
  await q('{ issues(filter: { project: { team: { lead: { displayName: { contains: "a" } } } } }, first: 5) { totalCount nodes { key } } }');
  await q('{ issues(filter: { labels: { some: { name: { contains: "b" } } }, assignees: { some: { teams: { some: { code: { eq: "PLT" } } } } } }, first: 5) { totalCount nodes { key } } }');
  await q('{ issues(filter: { labels: { none: { name: { contains: "b" } } }, status: { isTerminal: { eq: false } } }, first: 5) { totalCount nodes { key } } }');
}, 120000);
