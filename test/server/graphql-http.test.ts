import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { type SharedApp, sharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

const audits = serverAudits({ url: () => `${app.url}/graphql` });

describe('GraphQL over HTTP', () => {
  it('is judged by all audits of the suite', () => {
    expect(audits).toHaveLength(60);
  });

  it.each(audits)('$id: $name', async (audit) => {
    expect(await audit.fn()).toMatchObject({ status: 'ok' });
  });
});
