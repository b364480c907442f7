import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';

interface Server {
  run(): Promise<{ address: string; port: number }>;
  close(): Promise<void>;
}

interface ObjectFiles {
  getResourcePath(bucket: string, key: string, resource: string): string;
  deleteObject(this: ObjectFiles, bucket: string, key: string): Promise<void>;
}

// The package has no types.
const require = createRequire(import.meta.url);
const S3rver = require('@20minutes/s3rver') as new (options: object) => Server;
const { prototype: files } = require('@20minutes/s3rver/lib/stores/filesystem') as { prototype: ObjectFiles };

// S3 has no directories. This server removes directories that a DELETE has left empty, and then answers 500 to a PUT that
// has just created one of them, and to a concurrent DELETE.
files.deleteObject = async function (bucket, key) {
  const resources = ['object', 'object.md5', 'metadata.json'];
  await Promise.all(resources.map((name) => rm(this.getResourcePath(bucket, key, name), { force: true })));
};

// An S3-compatible server. The arguments are its directory and its bucket. It prints its host, and
// exits when its standard input closes.
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
