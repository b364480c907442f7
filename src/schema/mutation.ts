import { builder } from './builder/builder.ts';

builder.mutationType({
  description:
    'What can be changed. A mutation takes one `input` and gives back the changed thing; expected failures are errors with a code and every bad field.',
});
