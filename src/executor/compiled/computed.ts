import { type SignedIn, signedIn } from '../../resolvers/context.ts';
import type { Plan, ReferencePlans } from '../../schema/plan.ts';
import type { Field, Frame, Link } from './frame.ts';
import { valueField } from './leaves.ts';
import { ObjectPlan } from './objects.ts';
import { type AnyField, type Place, referenceFetch } from './place.ts';

/** A value made of columns, of rows that are referred to and, where it says so, of who asks. */
export function computedField(
  place: Place,
  key: string,
  field: AnyField,
  { columns, references, context, compute }: Extract<Plan, { kind: 'computed' }>,
): Field {
  const read = rowReader(place.plan, columns);
  const referred = referredReader(place, references);
  return valueField(
    key,
    field.type,
    (frame, row) =>
      compute(
        read(frame, row) as never,
        referred(frame, row) as never,
        (context ? signedIn(frame.run.context) : undefined) as SignedIn,
      ),
    { ofRow: !context && Object.keys(references).length === 0 },
  );
}

type ReadObject = (frame: Frame, row: number) => Record<string, unknown>;

/** Reads some columns of a row as the object that computed fields know. */
function rowReader(plan: ObjectPlan, columns: readonly string[]): ReadObject {
  const decoders = columns.map((column) => [column, plan.columns.decoder(column)] as const);
  return (frame, row) => {
    const object: Record<string, unknown> = {};
    for (const [column, decode] of decoders) object[column] = decode(frame, row);
    return object;
  };
}

/** Reads the rows that a computed field refers to, each with those beyond it; undefined where there is none. */
function referredReader(place: Place, references: ReferencePlans): ReadObject {
  const readers = Object.entries(references).map(([name, { table, by, where, key, columns, nested }]) => {
    const fetch = referenceFetch(place, { table, by, where });
    const plan = new ObjectPlan('', fetch.columns);
    const part = place.plan.newPart();
    fetch.add({ key: place.plan.columns.reader(key), part, plan });
    const beyond = referredReader({ ...place, plan, shared: new Map() }, nested);
    const own = rowReader(plan, columns);
    const read: ReadObject = (frame, row) => ({ ...own(frame, row), ...beyond(frame, row) });
    return { name, part, read };
  });
  return (frame, row) => {
    const referred: Record<string, unknown> = {};
    for (const { name, part, read } of readers) {
      const link = frame.parts[part] as Link;
      const at = link.at[row] ?? -1;
      referred[name] = at < 0 ? undefined : read(link.frame, at);
    }
    return referred;
  };
}
