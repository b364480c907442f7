import { EventLoopTurns } from '../../run/event-loop-turns.ts';
import { checkAnswerSize } from '../writing/answer-size.ts';
import type { Frame, PrewrittenRow } from './frame.ts';
import type { ObjectPlan } from '../compile/objects.ts';

/** An answer with fewer rows is written in a few milliseconds, and so all at once. */
const manyRows = 2_000;

/**
 * Runs the fetches of a list's rows. In a long answer, each row is then written by itself, and other requests get turns of the
 * event loop in between; writing the whole answer at once would block it.
 */
export function fetchRows(plan: ObjectPlan, frame: Frame): Promise<void> | undefined {
  const { run } = frame;
  const fetched = plan.fetch(frame, run);
  const finish = () => (run.rowsRead > manyRows ? prewriteRows(plan, frame) : undefined);
  return fetched ? fetched.then(finish) : finish();
}

async function prewriteRows(plan: ObjectPlan, frame: Frame): Promise<void> {
  const { run, rows } = frame;
  const turns = new EventLoopTurns();
  const prewritten: PrewrittenRow[] = [];
  let bytes = 0;
  for (let row = 0; row < rows.length; row += 1) {
    const wait = turns.next();
    if (wait) await wait;
    const before = run.objects;
    const written = run.written((out) => plan.write(out, frame, row));
    checkAnswerSize((bytes += written.bytes));
    prewritten.push({ written, objects: run.objects - before });
    run.objects = before;
  }
  frame.prewritten = prewritten;
}
