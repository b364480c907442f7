import type { InputObjectRef, ObjectRef } from '@pothos/core';
import type { EventType } from '../../model/events.ts';
import type { Context } from '../../resolvers/context.ts';
import { builder, type Types } from './builder.ts';
import type { DeclaredExtensions } from './output-extensions.ts';
import type { ScopeNeed } from './scopes.ts';

interface MutationOptions {
  readonly description: string;
  readonly scope: ScopeNeed;
  readonly extensions?: DeclaredExtensions;
  /** The types of events that a successful call adds to the log of changes, or the reason why it adds none. */
  readonly events: MutationEvents;
}

export type MutationEvents = readonly [EventType, ...EventType[]] | { readonly none: string };

/** Declares a mutation, which takes one required `input` and returns the payload that `run` returns. */
export function mutation<Input extends object, Payload extends object>(
  name: string,
  input: InputObjectRef<Types, Input>,
  payload: ObjectRef<Types, Payload>,
  run: (ctx: Context, input: Input) => Payload | Promise<Payload>,
  { events, ...options }: MutationOptions,
): void {
  builder.mutationField(name, (t) =>
    t.source({
      ...options,
      extensions: { ...options.extensions, events },
      type: payload,
      args: {
        input: t.arg({ type: input, required: true, description: 'The input of the mutation.' }),
      },
      // Pothos infers the type of an argument only if its input type is concrete, not generic.
      load: (ctx, args) => run(ctx, (args as unknown as { input: Input }).input),
    }),
  );
}
