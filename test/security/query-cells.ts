import { readSubscription } from '../support/read-subscription.ts';
import type { FieldOf } from '../graph/schema-walk.ts';
import type { World } from '../graph/world.ts';
import type { Position, Sample } from './positions.ts';
import { seenIn, uncompressed } from './twin-worlds.ts';
import { requiredArguments, type SelectionPath, wholeSelection } from './selection-paths.ts';

/** A field at the end of a selection path, with the position in its arguments that is varied. */
export interface Question {
  path: SelectionPath;
  of: FieldOf;
  position: Position;
}

/** A question with a value for its position, and a second value whose answer must be the same. */
export interface Cell extends Question {
  what: string;
  value: string | readonly string[];
  twin: string | readonly string[];
}

/** Below the limit on how often one selection may repeat a field. */
const batchSize = 40;

/** A cell whose two answers differ. */
export interface Difference {
  cell: Cell;
  answers: [string, string];
}

/** Returns the cells whose two answers differ. */
export async function differing(world: World, cells: readonly Cell[], sample: Sample): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const batch of batchesOf(cells)) {
    const [left, right] = await bothAnswers(world, batch, sample);
    // If the error of one cell has removed the data of the others, each cell is asked separately.
    const isWhole = (left.answer.body as { data?: unknown }).data != null;
    if (left.seen === right.seen && (isWhole || batch.length === 1)) continue;
    for (const cell of batch) {
      const [one, other] = batch.length === 1 ? [left, right] : await bothAnswers(world, [cell], sample);
      if (one.seen !== other.seen) found.push({ cell, answers: [one.seen, other.seen] });
    }
  }
  return found;
}

/** Whether the two values of some cell get different answers. */
export async function tellsApart(world: World, cells: readonly Cell[], sample: Sample): Promise<boolean> {
  for (const batch of batchesOf(cells)) {
    const [left, right] = await bothAnswers(world, batch, sample);
    if (left.seen !== right.seen) return true;
  }
  return false;
}

async function bothAnswers(world: World, batch: readonly Cell[], sample: Sample) {
  const query = documentOf(batch, sample);
  const { app, workspace } = world;
  const ask = async (value: (cell: Cell) => Cell['value']) => {
    const variables = Object.fromEntries(
      batch.map((cell, index) => [`c${index}`, cell.position.buildValue(value(cell))]),
    );
    const answer = query.startsWith('subscription')
      ? await readSubscription(app, query, variables, workspace)
      : await app.graphql(query, variables, { token: workspace.token, headers: uncompressed });
    return { answer, seen: seenIn(answer, batch.flatMap(value)) };
  };
  return [await ask(({ value }) => value), await ask(({ twin }) => twin)] as const;
}

/** Groups cells that can be asked together in one operation. */
function batchesOf(cells: readonly Cell[]): Cell[][] {
  // Cells with the same kind of value are likely to be all answered or all refused.
  return [...Map.groupBy(cells, ({ what }) => what).values()].flatMap((alike) =>
    // A subscription has one root field.
    alike.some(isSubscribed)
      ? alike.map((cell) => [cell])
      : Array.from({ length: Math.ceil(alike.length / batchSize) }, (_, index) =>
          alike.slice(index * batchSize, (index + 1) * batchSize),
        ),
  );
}

function documentOf(batch: readonly Cell[], sample: Sample): string {
  const declared = batch.map(({ position }, index) => `$c${index}: ${String(position.argument.type)}`);
  const fields = batch.map(({ path, of, position }, index) => {
    const tested = { argument: position.argument, variable: `c${index}` };
    const selection = of.field.name + requiredArguments(of.field, sample, tested) + wholeSelection(of.field);
    const unwrapped = `${path.prefix}${selection}${path.suffix}`.replace(/^\{ /, '').replace(/ \}$/, '');
    return `a${index}: ${unwrapped}`;
  });
  return `${batch.some(isSubscribed) ? 'subscription' : 'query'} (${declared.join(', ')}) { ${fields.join(' ')} }`;
}

function isSubscribed({ of }: Cell): boolean {
  return of.parent === 'Subscription';
}
