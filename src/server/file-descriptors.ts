import { close, open, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { connectionsOf } from './workers/shares.ts';

type DescriptorConfig = Partial<Pick<Config, 'pool' | 'readDatabaseUrls' | 'streams'>>;

const advice =
  'Raise the limit of open files (`ulimit -n`, LimitNOFILE of systemd, --ulimit nofile of Docker) or lower STREAMS.';

/**
 * What a process has open besides the connections that the settings allow: files, its own sockets, and connections of requests.
 */
const reservedDescriptors = 256;

const watchEveryMs = 1_000;

/** A shortage may begin and end with each connection, so it is logged at most this often. */
const logIntervalMs = 60_000;

/** Warns when this process may have fewer files open than its settings need. Returns silently where the limit cannot be read. */
export function warnOfDescriptorLimit(
  { pool, readDatabaseUrls = [], streams }: DescriptorConfig,
  logger: Logger,
  limits = readLimits(),
): void {
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
  const { primary, replica } = pool
    ? connectionsOf({ pool, readDatabaseUrls }, 1)
    : { primary: 0, replica: 0 };
  const needed = (streams?.streams ?? 0) + primary + replica * readDatabaseUrls.length + reservedDescriptors;
  if (!(limit < needed)) return;
  logger.warn(
    { limit, needed },
    `This process may have ${limit} files and connections open, but its settings may need ${needed}. ${advice}`,
  );
}

/**
 * Logs a lack of file descriptors. Nothing else reports it: Node closes connections that it cannot accept, without an error, so
 * that clients and probes see them reset.
 */
export function watchDescriptors(logger: Logger, everyMs = watchEveryMs): () => void {
  let loggedMs = Number.NEGATIVE_INFINITY;
  const watch = setInterval(() => {
    open('/dev/null', 'r', (error, descriptor) => {
      if (!error) return close(descriptor);
      const isShortage = error.code === 'EMFILE' || error.code === 'ENFILE';
      if (!isShortage || performance.now() - loggedMs < logIntervalMs) return;
      loggedMs = performance.now();
      logger.error({ err: error }, `No file descriptors are left, so new connections are reset. ${advice}`);
    });
  }, everyMs);
  watch.unref();
  return () => clearInterval(watch);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
