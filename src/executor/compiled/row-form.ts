import type { Below, Field, Frame } from './frame.ts';
import type { ObjectPlan } from './objects.ts';

/** How a caller wants certain objects of an answer that is otherwise made of values: as JSON in a form of its own. */
export interface RowForm {
  /** The response names that lead from the root of the operation to the objects. */
  readonly path: readonly string[];
  /** Compiles the form for the plan of the objects; undefined where the plan cannot give what the form needs. */
  compile(plan: ObjectPlan): WriteRow | undefined;
}

/** Writes one object. The answer has what this returns in place of the object. */
export type WriteRow = (frame: Frame, row: number) => WrittenRow;

export interface WrittenRow {
  readonly json: Uint8Array;
}

/** A form for the objects of one plan. */
export interface CompiledRowForm {
  readonly plan: ObjectPlan;
  readonly write: WriteRow;
  /** The number of objects that a row shows below itself. */
  readonly objectsBelow: CountObjects;
}

type CountObjects = (frame: Frame, row: number) => number;

const compiled = new WeakMap<RowForm, WeakMap<ObjectPlan, CompiledRowForm | null>>();

/** The form for the plan of an operation; undefined where its objects have to be values. */
export function compileRowForm(form: RowForm, root: ObjectPlan): CompiledRowForm | undefined {
  let forms = compiled.get(form);
  if (!forms) compiled.set(form, (forms = new WeakMap()));
  const known = forms.get(root);
  if (known !== undefined) return known ?? undefined;
  const plan = planAt(root, form.path);
  // A fixed plan may be shared with another selection of the operation, whose objects are to be values.
  const write = plan && !plan.isFixed ? form.compile(plan) : undefined;
  const made = plan && write && { plan, write, objectsBelow: objectCounter(plan.fields) ?? none };
  forms.set(root, made ?? null);
  return made;
}

function planAt(root: ObjectPlan, path: readonly string[]): ObjectPlan | undefined {
  let fields: readonly Field[] = root.fields;
  let below: Below | undefined;
  for (const name of path) {
    below = fields.find(({ key }) => key === name)?.below;
    if (!below) return undefined;
    ({ fields } = below);
  }
  return below?.plan;
}

const none: CountObjects = () => 0;

/** Counts the objects below a row as writing them would; undefined where no field shows objects. */
function objectCounter(fields: readonly Field[]): CountObjects | undefined {
  const parts = fields.flatMap(({ below }) => (below ? [{ below, inner: objectCounter(below.fields) }] : []));
  if (parts.length === 0) return undefined;
  return (frame, row) => {
    let objects = 0;
    for (const { below, inner } of parts) {
      const from = below.from(frame, row);
      if (from < 0) continue;
      const to = below.to(frame, row);
      if (below.plan) objects += to - from;
      if (!inner) continue;
      const rows = below.frame(frame);
      for (let at = from; at < to; at += 1) objects += inner(rows, at);
    }
    return objects;
  };
}
