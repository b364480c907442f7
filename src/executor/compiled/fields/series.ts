import type { PlanOf } from '../../../schema/builder/plan.ts';
import type { KeyColumn } from '../compile/columns.ts';
import { distinctKeys } from '../run/distinct-keys.ts';
import { type Frame, type Link, newFrame, type Row } from '../run/frame.ts';
import type { Fetch, ObjectPlan } from '../compile/objects.ts';
import type { Run } from '../run/run.ts';

interface SeriesOptions extends Pick<PlanOf<'series'>, 'load'> {
  args: (run: Run) => Record<string, unknown>;
  key: KeyColumn;
  fetchIndex: number;
  below: ObjectPlan;
}

/** Calls a resolver once with the keys of all rows of a frame. The resolver returns an object for each key. */
export class SeriesFetch implements Fetch {
  readonly #options: SeriesOptions;

  constructor(options: SeriesOptions) {
    this.#options = options;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const { load, args, key, fetchIndex, below } = this.#options;
    const { texts, keyIndexes } = distinctKeys(frame, key);
    const objects = await load(run.context, args(run), texts);
    const rows = newFrame(run, objects as readonly Row[], []);
    frame.fetched[fetchIndex] = { frame: rows, rowIndexes: keyIndexes } satisfies Link;
    await below.fetch(rows, run);
  }
}
