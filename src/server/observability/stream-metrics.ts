import type { LiveChanges } from '../../live/live-changes.ts';
import type { ChangeWaits } from '../change-waits.ts';
import type { Metrics } from './metrics.ts';

/** Adds the metrics of the log of changes and of the streams that read it. */
export function watchStreams(
  metrics: Metrics,
  { counts, openStreams }: Pick<LiveChanges, 'counts' | 'openStreams'>,
  waits: Pick<ChangeWaits, 'reads'>,
): void {
  metrics.gauge({
    name: 'workgraph_streams',
    help: 'Open streams of events by API, and requests that wait for changes',
    label: 'of',
    read: () => {
      const { graphql, rest } = counts.streams;
      return { graphql, rest, waiting: openStreams.count - graphql - rest };
    },
  });
  metrics.counter({
    name: 'workgraph_streams_cut_total',
    help: 'Streams that the server has ended, by the reason',
    label: 'reason',
    read: () => ({ ...counts.cut }),
  });
  metrics.gauge({
    name: 'workgraph_change_inbox_rows',
    help: 'Changes of all workspaces that waited for their positions when this process last looked, at most a second ago',
    read: () => counts.inboxRows,
    // Each worker looks at the changes of all workspaces.
    ofWorkers: 'max',
  });
  metrics.counter({
    name: 'workgraph_changes_total',
    help: 'Changes that got their positions in this process',
    read: () => counts.numbered,
  });
  metrics.counter({
    name: 'workgraph_delivered_events_total',
    help: 'Events that were given to streams, each as often as there are streams that got it',
    read: () => counts.delivered,
  });
  metrics.counter({
    name: 'workgraph_stream_reads_total',
    help: 'Reads of subscriptions that could be shared: made, or saved because an equal subscription made it',
    label: 'kind',
    read: () => ({ ...waits.reads }),
  });
  counts.onLag = metrics.durations({
    name: 'workgraph_change_lag_seconds',
    help: 'From the write of a change to its position (numbered), and from there to a stream (delivered)',
    label: 'stage',
  });
}
