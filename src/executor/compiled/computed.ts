import { type SignedIn, signedIn } from '../../resolvers/context.ts';
import type { Plan, ReferencePlans } from '../../schema/builder/plan.ts';
import type { Field, Frame, Link } from './frame.ts';
import { valueField } from './leaves.ts';
import { ObjectPlan } from './objects.ts';
import { type AnyField, type Place, referenceFetch } from './compile-context.ts';

/** A value made of columns, of rows that are referred to and, where it says so, of who asks. */
export function computedField(
  place: Place,
  key: string,
  field: AnyField,
  { columns, references, context, compute }: Extract<Plan, { kind: 'computed' }>,
): Field {
  const fillOwn = columnsInto(place.plan, columns);
  const fillReferred = referredInto(place, references);
  // The same objects for all rows: what is computed of one is done with them when the next one comes.
  const own = {};
  const referred = {};
  return valueField(
    key,
    field.type,
    (frame, row) => {
      fillOwn(own, frame, row);
      fillReferred(referred, frame, row);
      return compute(
        own as never,
        referred as never,
        (context ? signedIn(frame.run.context) : undefined) as SignedIn,
      );
    },
    { ofRow: !context && Object.keys(references).length === 0 },
  );
}

/** Fills in what computed fields know of a row, under the names that they know it by. */
type Fill = (known: Record<string, unknown>, frame: Frame, row: number) => void;

function columnsInto(plan: ObjectPlan, columns: readonly string[]): Fill {
  const decoders = columns.map((column) => ({ column, decode: plan.columns.decoder(column) }));
  return (known, frame, row) => {
    for (const { column, decode } of decoders) known[column] = decode(frame, row);
  };
}

/** The rows that a computed field refers to, each with those beyond it; undefined where there is none. */
function referredInto(place: Place, references: ReferencePlans): Fill {
  const fills = Object.entries(references).map(([name, { table, by, where, key, columns, nested }]) => {
    const fetch = referenceFetch(place, { table, by, where });
    const plan = new ObjectPlan('', fetch.columns);
    const part = place.plan.newPart();
    fetch.add({ key: place.plan.columns.key(key), part, plan });
    const fillBeyond = referredInto({ ...place, plan, shared: new Map() }, nested);
    const fillOwn = columnsInto(plan, columns);
    const referred = {};
    return (known: Record<string, unknown>, frame: Frame, row: number) => {
      const link = frame.parts[part] as Link;
      const at = link.at[row] ?? -1;
      known[name] = at < 0 ? undefined : referred;
      if (at < 0) return;
      fillOwn(referred, link.frame, at);
      fillBeyond(referred, link.frame, at);
    };
  });
  return (known, frame, row) => {
    for (const fill of fills) fill(known, frame, row);
  };
}
