import { builder } from './builder/builder.ts';

builder.mutationType({
  description:
    'All mutations. A mutation takes one `input` and returns the changed object. An expected failure is an error with a code and the list of all invalid fields.',
});
