import type { InputObjectRef, ObjectRef } from '@pothos/core';
import type { Context } from '../../resolvers/context.ts';
import { builder, type Types } from './builder.ts';
import type { ScopeNeed } from './scopes.ts';

interface MutationOptions {
  readonly description: string;
  /** `issues:write` when left out. */
  readonly scope?: ScopeNeed;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Declares a mutation: one required `input`, and a payload that one call of a resolver gives. */
export function mutation<Input extends object, Payload extends object>(
  name: string,
  input: InputObjectRef<Types, Input>,
  payload: ObjectRef<Types, Payload>,
  run: (ctx: Context, input: Input) => Payload | Promise<Payload>,
  { scope = 'issues:write', ...options }: MutationOptions,
): void {
  builder.mutationField(name, (t) =>
    t.source({
      ...options,
      scope,
      type: payload,
      args: {
        input: t.arg({ type: input, required: true, description: 'What the mutation is to do.' }),
      },
      // Pothos infers the arguments of a concrete input type only.
      load: (ctx, args) => run(ctx, (args as unknown as { input: Input }).input),
    }),
  );
}
