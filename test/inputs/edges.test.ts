import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { Client } from './client.ts';
import { restFaults } from './oracle.ts';
import { type Pool, readPool } from './pool.ts';
import { wireOf } from './rest-cases.ts';
import { strangeNumbers, strangeTimes } from './texts.ts';

let app: App;
let client: Client;
let pool: Pool;

beforeAll(async () => {
  app = await startApp({ demo: true });
  client = new Client(app.url, app.token);
  pool = await readPool(app);
});
afterAll(async () => {
  client.close();
  await app.stop();
});

const maxInt = 2_147_483_647;

/** The integer that a JSON spelling of a number stands for; undefined if it must be refused. */
function valueOf(spelling: string, minimum = -maxInt - 1): number | undefined {
  const value = Number(spelling);
  return Number.isInteger(value) && value >= minimum && value <= maxInt ? value + 0 : undefined;
}

interface GraphAnswer {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions: { code: string } }[];
}

async function graph(query: string, variables: string): Promise<GraphAnswer> {
  const body = Buffer.from(`{"query":${JSON.stringify(query)},"variables":${variables}}`);
  const { status, text } = await client.send({ method: 'POST', target: '/graphql', headers: {}, body });
  expect(status).toBe(200);
  return JSON.parse(text) as GraphAnswer;
}

describe('numbers', () => {
  const withIntegers = routeTable.flatMap((route) =>
    Object.entries(route.body?.fields ?? {}).flatMap(([name, field]) => {
      const schema =
        field.kind === 'value' ? field.schema : field.kind === 'required' ? field.value.schema : {};
      return schema.type === 'integer'
        ? [[`${route.method} ${route.path}`, name, route, schema] as const]
        : [];
    }),
  );

  it.each(withIntegers)(
    '%s, %s: whole numbers within the bounds are accepted',
    async (_, name, route, schema) => {
      for (const spelling of [...strangeNumbers, '"1"', 'true', '[1]', '{}']) {
        const wire = wireOf(route, {
          path: { issueKey: pool.issueKey[0] ?? '' },
          query: [],
          headers: {},
          body: { raw: `{"${name}":${spelling}}` },
        });
        const answer = await client.send(wire);
        expect([spelling, restFaults(wire, answer)]).toEqual([spelling, []]);
        const value = /^["t[{]/.test(spelling) ? undefined : valueOf(spelling, schema.minimum);
        const isTaken = value !== undefined && (!schema.enum || schema.enum.includes(value));
        const { errors = [] } =
          answer.status === 400 ? (JSON.parse(answer.text) as { errors?: { field: string }[] }) : {};
        expect([spelling, errors.some(({ field }) => field === name)]).toEqual([spelling, !isTaken]);
      }
    },
  );

  it('are stored with their exact value, by both APIs', async () => {
    const key = pool.issueKey[0];
    for (const spelling of strangeNumbers) {
      const value = valueOf(spelling, 0);
      const rest = await client.send({
        method: 'PATCH',
        target: `/v1/issues/${key}`,
        headers: {},
        body: Buffer.from(`{"estimateValue":${spelling}}`),
      });
      expect([spelling, rest.status]).toEqual([spelling, value === undefined ? 400 : 200]);
      if (value !== undefined) expect(JSON.parse(rest.text)).toMatchObject({ estimateValue: value });
      const query =
        'mutation ($v: Int, $key: String!) { issueUpdate(input: { key: $key, estimateValue: $v }) { issue { estimateValue } } }';
      for (const [document, variables] of [
        [query, `{"v":${spelling},"key":"${key}"}`],
        [query.replace('$v: Int, ', '').replace('$v', spelling), `{"key":"${key}"}`],
      ] as const) {
        const { data, errors } = await graph(document, variables);
        // A literal is refused for its syntax, whatever its value: 1.0 and 0.1e1 are Floats.
        const isForm = document === query || /^-?\d+$/.test(spelling);
        if (value !== undefined && isForm)
          expect([spelling, data]).toEqual([spelling, { issueUpdate: { issue: { estimateValue: value } } }]);
        else
          expect([spelling, errors?.map(({ extensions }) => extensions.code).length]).toEqual([spelling, 1]);
      }
    }
  });

  it('that are page sizes outside of 1 to 250 are refused by the graph, for first and last', async () => {
    for (const argument of ['first', 'last'])
      for (const spelling of strangeNumbers) {
        const { data, errors } = await graph(
          `query ($v: Int) { teams(${argument}: $v) { nodes { id } } }`,
          `{"v":${spelling}}`,
        );
        const value = valueOf(spelling, 1);
        expect([spelling, data != null]).toEqual([spelling, value !== undefined && value <= 250]);
        expect([spelling, errors === undefined]).toEqual([spelling, value !== undefined && value <= 250]);
      }
  });

  it('that are estimates have sums within the range of integers', async () => {
    const { data } = await graph(
      '{ deliveries: issues(first: 250, filter: { deliveryId: { isNull: false } }) { nodes { key deliveryId } } }',
      '{}',
    );
    const { nodes } = (data?.deliveries ?? { nodes: [] }) as { nodes: { key: string; deliveryId: string }[] };
    const shared = Map.groupBy(nodes, ({ deliveryId }) => deliveryId);
    const [deliveryId, issues = []] = [...shared].find(([, list]) => list.length > 1) ?? [];
    for (const { key } of issues.slice(0, 2)) {
      const { errors } = await graph(
        'mutation ($key: String!) { issueUpdate(input: { key: $key, estimateValue: 2147483647 }) { issue { delivery { estimatedScope closedEstimate } } } }',
        JSON.stringify({ key }),
      );
      expect(errors).toBeUndefined();
    }
    const read = await graph(
      'query ($id: ID!) { node(id: $id) { ... on Delivery { estimatedScope closedEstimate issueCount } } issueStats(groupBy: []) { estimateSum } }',
      JSON.stringify({ id: deliveryId }),
    );
    expect(read).toMatchObject({
      data: { node: { estimatedScope: maxInt }, issueStats: [{ estimateSum: maxInt }] },
    });
    const { text } = await client.send({
      method: 'GET',
      target: `/v1/issues/${issues[0]?.key}`,
      headers: {},
    });
    expect(JSON.parse(text)).toMatchObject({ delivery: { estimatedScope: maxInt } });
  });
});

describe('dates and times', () => {
  /** Whether a text is an existing day with a year of four digits, regardless of how Date parses it. */
  const isDay = (text: string) => {
    const [, year = 0, month = 0, day = 0] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
    const days = [
      31,
      year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28,
      31,
      30,
      31,
      30,
      31,
      31,
      30,
      31,
      30,
      31,
    ];
    return year > 0 && month > 0 && day > 0 && day <= (days[month - 1] ?? 0);
  };

  it('that are existing days are accepted and returned unchanged, by both APIs', async () => {
    const key = pool.issueKey[0];
    for (const text of strangeTimes) {
      const rest = await client.send({
        method: 'PATCH',
        target: `/v1/issues/${key}`,
        headers: {},
        body: Buffer.from(JSON.stringify({ dueDate: text })),
      });
      expect([text, rest.status]).toEqual([text, isDay(text) ? 200 : 400]);
      if (isDay(text)) expect(JSON.parse(rest.text)).toMatchObject({ dueDate: text });
      else expect(JSON.parse(rest.text)).toMatchObject({ errors: [{ field: 'dueDate' }] });
      const { data, errors } = await graph(
        'mutation ($v: Date, $key: String!) { issueUpdate(input: { key: $key, dueDate: $v }) { issue { dueDate } } }',
        JSON.stringify({ v: text, key }),
      );
      if (isDay(text)) expect([text, data]).toEqual([text, { issueUpdate: { issue: { dueDate: text } } }]);
      else expect([text, errors?.length]).toEqual([text, 1]);
    }
  });

  it('filter lists to the millisecond, or are refused with the name of the parameter', async () => {
    for (const text of strangeTimes)
      for (const name of ['created_from_utc', 'created_to_utc', 'closed_from_utc', 'due_from', 'due_to']) {
        const target = `/v1/issues?page_size=1&${name}=${encodeURIComponent(text)}`;
        const answer = await client.send({ method: 'GET', target, headers: {} });
        expect([text, restFaults({ method: 'GET', target, headers: {} }, answer)]).toEqual([text, []]);
        if (answer.status !== 200)
          expect([text, JSON.parse(answer.text)]).toMatchObject([
            text,
            { status: 400, errors: [{ field: name }] },
          ]);
      }
  });

  it('with any offset are the exact expiry of a token', async () => {
    const moments = [
      '2099-12-31T23:59:59.999Z',
      '2099-12-31T23:59:59.999999999+23:59',
      '2100-01-01T00:00:00-23:59',
      '9999-12-31T23:59:59.999Z',
    ];
    for (const v of moments) {
      const { data } = await graph(
        'mutation ($v: DateTime) { it: accessTokenCreate(input: { name: "t", scopes: ["issues:read"], expiresUtc: $v }) { accessToken { expiresUtc } } }',
        JSON.stringify({ v }),
      );
      expect(data).toEqual({ it: { accessToken: { expiresUtc: new Date(v).toISOString() } } });
    }
  });
});

describe('refusals', () => {
  it('concern texts in filters of more than 1,000 characters', async () => {
    const query = 'query ($v: String) { issues(filter: { title: { contains: $v } }) { totalCount } }';
    for (const length of [1_000, 1_001]) {
      const { data, errors } = await graph(query, JSON.stringify({ v: 'x'.repeat(length) }));
      if (length > 1_000) expect(errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
      else expect(data).toEqual({ issues: { totalCount: 0 } });
    }
  });

  it('are never much longer than the input', async () => {
    const key = pool.issueKey[0];
    const wrong = Array.from({ length: 200 }, () => 'x'.repeat(4_000));
    const answers = [
      await client.send({
        method: 'PATCH',
        target: `/v1/issues/${key}`,
        headers: {},
        body: Buffer.from(JSON.stringify({ labelIds: wrong })),
      }),
      ...(await Promise.all(
        [
          { input: { key, labelIds: Array.from({ length: 49_000 }, () => 'x') } },
          {
            input: Object.fromEntries([
              ['key', 'x'.repeat(900_000)],
              ...wrong.map((_, index) => [`f${index}`, 1]),
            ]),
          },
        ].map((variables) =>
          client.send({
            method: 'POST',
            target: '/graphql',
            headers: {},
            body: Buffer.from(
              JSON.stringify({
                query: 'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { id } } }',
                variables,
              }),
            ),
          }),
        ),
      )),
    ];
    for (const { text } of answers) {
      expect(text).toMatch(/errors/);
      expect(text.length).toBeLessThan(120_000);
    }
  });
});
