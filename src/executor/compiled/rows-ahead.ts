import { Turns } from '../turns.ts';
import { checkAnswerSize } from './answer-size.ts';
import type { Frame, RowAhead } from './frame.ts';
import { JsonWriter } from './json-writer.ts';
import type { ObjectPlan } from './objects.ts';

/** With fewer rows an answer is made in a few milliseconds. */
const manyRows = 2_000;

/**
 * What hangs on the rows of a list. Of a long answer, each row is then made with turns for others in between, and the
 * answer takes them as they are: to make it in one go would keep everybody waiting.
 */
export function fetchRows(plan: ObjectPlan, frame: Frame): Promise<void> | undefined {
  const { run } = frame;
  const fetched = plan.fetch(frame, run);
  const finish = () => (run.rowsRead > manyRows ? makeAhead(plan, frame) : undefined);
  return fetched ? fetched.then(finish) : finish();
}

async function makeAhead(plan: ObjectPlan, frame: Frame): Promise<void> {
  const { run, rows } = frame;
  const turns = new Turns();
  const ahead: RowAhead[] = [];
  let bytes = 0;
  for (let row = 0; row < rows.length; row += 1) {
    const wait = turns.next();
    if (wait) await wait;
    const before = run.objects;
    const made = run.isWritten ? written(plan, frame, row) : plan.value(frame, row);
    if (made instanceof Uint8Array) checkAnswerSize((bytes += made.length));
    ahead.push({ made, objects: run.objects - before });
    run.objects = before;
  }
  frame.ahead = ahead;
}

function written(plan: ObjectPlan, frame: Frame, row: number): Buffer {
  const out = new JsonWriter();
  plan.write(out, frame, row);
  return out.since(0);
}
