import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** An S3-compatible server in a separate process, with one bucket. It checks signatures. */
export interface S3Server {
  /** The URL of a folder in the bucket, with valid credentials. */
  storageUrl: string;
  /** The same URL with a wrong secret. */
  wrongStorageUrl: string;
  /** The keys of all objects. */
  keys(): string[];
  stop(): Promise<void>;
}

const bucket = 'workgraph';

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-s3-'));
  const script = join(import.meta.dirname, 's3-process.ts');
  const server = spawn(process.execPath, [script, directory, bucket], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(server, 'exit').then(() => {
    throw new Error('The S3-compatible server ended; is @20minutes/s3rver installed?');
  });
  const [host] = (await Promise.race([once(createInterface(server.stdout), 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return {
    storageUrl: `http://S3RVER:S3RVER@${host}/${bucket}/folder?region=eu-central-1`,
    wrongStorageUrl: `http://S3RVER:wrong@${host}/${bucket}/folder?region=eu-central-1`,
    keys: () =>
      globSync('**/*._S3rver_object', { cwd: join(directory, bucket) }).map((path) =>
        path.replace('._S3rver_object', ''),
      ),
    stop: async () => {
      const exit = once(server, 'exit');
      // The process exits when its standard input closes, so it ends even if the test is killed.
      server.stdin.end();
      await exit;
      rmSync(directory, { recursive: true });
    },
  };
}
