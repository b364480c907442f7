import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** An S3-compatible server in a process of its own, with one bucket. */
export interface S3Server {
  /** The address of a folder in the bucket, with the credentials that it takes. */
  storageUrl: string;
  /** The same with another secret. */
  wrongStorageUrl: string;
  /** The keys of all objects. */
  keys(): string[];
  stop(): Promise<void>;
}

const bucket = 'workgraph';

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-s3-'));
  const script = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js');
  const options = ['-d', directory, '-a', '127.0.0.1', '-p', '0', '--no-vhost-buckets', '--configure-bucket', bucket];
  const server = spawn(process.execPath, [script, ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
  const host = await listening(server);
  return {
    storageUrl: `http://S3RVER:S3RVER@${host}/${bucket}/folder?region=eu-central-1`,
    wrongStorageUrl: `http://S3RVER:wrong@${host}/${bucket}/folder?region=eu-central-1`,
    keys: () =>
      globSync('**/*._S3rver_object', { cwd: join(directory, bucket) }).map((path) =>
        path.replace('._S3rver_object', ''),
      ),
    stop: async () => {
      const exit = once(server, 'exit');
      server.kill();
      await exit;
      rmSync(directory, { recursive: true });
    },
  };
}

async function listening({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('The server has no output.');
  for await (const line of createInterface(stdout)) {
    const host = /listening on (\S+)/.exec(line)?.[1];
    if (host) {
      stdout.resume();
      return host;
    }
  }
  throw new Error('The server does not listen.');
}
