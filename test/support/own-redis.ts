import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from './ports.ts';
import { eventually } from './eventually.ts';

export const hasRedisProgram = spawnSync('redis-server', ['--version']).status === 0;

/** A Redis of a test's own, which keeps nothing. */
export interface OwnRedis {
  readonly url: string;
  readonly client: Redis;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 20 });
  client.on('error', () => undefined);
  await eventually(async () => {
    if (child.exitCode !== null) {
      client.disconnect();
      throw new Error(`redis-server has ended with ${child.exitCode} instead of listening on port ${port}.`);
    }
    return (await client.ping().catch(() => '')) === 'PONG';
  });
  return {
    url,
    client,
    stop: async () => {
      client.disconnect();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
