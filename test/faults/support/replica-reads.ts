import { Client } from './client.ts';

/** What the metrics of a server say about its only replica. */
export async function readsOf(
  service: { metrics(): Promise<string> } | undefined,
): Promise<{ serves: number; reads: number }> {
  const text = (await service?.metrics()) ?? '';
  const valueOf = (name: string) =>
    Number(new RegExp(`^${name}\\{replica="1"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return { serves: valueOf('workgraph_replica_serves'), reads: valueOf('workgraph_replica_reads_total') };
}

/** A read-only token of the same member: its requests may use replicas. */
export async function readerToken(url: string, token: string): Promise<string> {
  const client = new Client(url, token);
  const query =
    'mutation { accessTokenCreate(input: { name: "reader", scopes: ["issues:read"] }) { token } }';
  const { body } = await client.send({ method: 'POST', path: '/graphql', body: { query } });
  client.close();
  const { data } = JSON.parse(body) as { data: { accessTokenCreate: { token: string } } };
  return data.accessTokenCreate.token;
}
