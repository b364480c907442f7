import { getNamedType, isLeafType } from 'graphql';
import { type SignedIn, requireSignedIn } from '../../../resolvers/context.ts';
import type { PlanOf, ReferencePlans } from '../../../schema/builder/plan.ts';
import { type Field, type Frame, type Link, NotCompilable } from '../run/frame.ts';
import { valueField } from './leaves.ts';
import { ObjectPlan } from '../compile/objects.ts';
import { type CompileContext, type FieldContext, referenceFetch } from '../compile/compile-context.ts';
import { nestedField } from './nested-field.ts';

type ComputedPlan = PlanOf<'computed'>;

/**
 * A field whose value a function computes from columns, from rows to which it refers and, where the plan says so, from the
 * principal.
 */
export function compileComputed(selected: FieldContext, plan: ComputedPlan): Field {
  const { context, responseName, field } = selected;
  if (!isLeafType(getNamedType(field.type))) {
    // Objects are computed when the fetches of their row start, before the rows to which it refers have been read.
    if (Object.keys(plan.references).length > 0)
      throw new NotCompilable(`${context.type.name}.${field.name} makes objects from rows that it refers to`);
    return nestedField(selected, computation(context, plan));
  }
  const { usesContext, references } = plan;
  return valueField(responseName, field.type, computation(context, plan), {
    dependsOnlyOnRow: !usesContext && Object.keys(references).length === 0,
  });
}

/** Computes the value of one row. */
function computation(
  context: CompileContext,
  { columns, references, usesContext, compute }: ComputedPlan,
): (frame: Frame, row: number) => unknown {
  const fillOwn = columnFiller(context.plan, columns);
  const fillReferences = referenceFiller(context, references);
  // One pair of objects serves all rows: `compute` keeps no reference to its arguments.
  const own = {};
  const referenced = {};
  return (frame, row) => {
    fillOwn(own, frame, row);
    fillReferences(referenced, frame, row);
    return compute(
      own as never,
      referenced as never,
      (usesContext ? requireSignedIn(frame.run.context) : undefined) as SignedIn,
    );
  };
}

/** Fills in the values of a row that a computed field reads, under their names. */
type Fill = (values: Record<string, unknown>, frame: Frame, row: number) => void;

function columnFiller(plan: ObjectPlan, columns: readonly string[]): Fill {
  const decoders = columns.map((column) => ({ column, decode: plan.columns.decoder(column) }));
  return (values, frame, row) => {
    for (const { column, decode } of decoders) values[column] = decode(frame, row);
  };
}

/** Fills in the referenced rows, with the rows to which those refer; undefined if there is no such row. */
function referenceFiller(context: CompileContext, references: ReferencePlans): Fill {
  const fills = Object.entries(references).map(([name, { table, by, where, key, columns, nested }]) => {
    const fetch = referenceFetch(context, { table, by, where });
    const plan = new ObjectPlan('', fetch.columns);
    const fetchIndex = context.plan.newFetchIndex();
    fetch.add({ key: context.plan.columns.key(key), fetchIndex, plan });
    const fillNested = referenceFiller({ ...context, plan, shared: new Map() }, nested);
    const fillOwn = columnFiller(plan, columns);
    const referenced = {};
    return (values: Record<string, unknown>, frame: Frame, row: number) => {
      const link = frame.fetched[fetchIndex] as Link;
      const at = link.rowIndexes[row] ?? -1;
      values[name] = at < 0 ? undefined : referenced;
      if (at < 0) return;
      fillOwn(referenced, link.frame, at);
      fillNested(referenced, link.frame, at);
    };
  });
  return (values, frame, row) => {
    for (const fill of fills) fill(values, frame, row);
  };
}
