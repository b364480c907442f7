import { once } from 'node:events';
import { createRequire } from 'node:module';

interface Server {
  run(): Promise<{ address: string; port: number }>;
  close(): Promise<void>;
}

// It has no types.
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Server;

// An S3-compatible server on the directory of the first argument, with the bucket of the second: prints its host, and
// ends with its standard input.
const [, , directory, name] = process.argv;
const server = new S3rver({
  directory,
  configureBuckets: [{ name }],
  address: '127.0.0.1',
  port: 0,
  silent: true,
  vhostBuckets: false,
});
const { address, port } = await server.run();
process.stdout.write(`${address}:${port}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await server.close();
process.exit();
