import { randomUUID } from 'node:crypto';

/** Names the run, so that its databases on a server are known for the run's own; workers inherit it. */
export default function setup(): void {
  process.env.WORKGRAPH_TEST_RUN = randomUUID().slice(0, 8);
}
