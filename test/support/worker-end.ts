/** The first element of the message by which jest-worker ends a worker. It then gives the process `workerGracefulExitTimeout` to exit. */
const endMessageType = 2;

/** Calls the function when jest has no more test files for this process, or when the parent of an `@own-process` file disconnects. */
export function whenWorkerEnds(close: () => Promise<void>): void {
  // Without workers, jest runs the files in its own process, which calls `closeDatabaseOfWorker` after all of them.
  if (!process.send) return;
  const end = () => {
    // Either listener would keep the process alive.
    process.off('message', onMessage).off('disconnect', end);
    void close();
  };
  const onMessage = (message: unknown) => {
    if (Array.isArray(message) && message[0] === endMessageType) end();
  };
  process.on('message', onMessage).on('disconnect', end);
}
