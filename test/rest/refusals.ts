import { expect } from '@jest/globals';
import type { Answer } from '../support/app.ts';
import { expectFields, problem } from './fields.ts';

/** Expects that the body was refused for exactly these fields, in this order. */
export function expectRefused(answer: Answer, fields: readonly string[]): void {
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expectFields(answer.body, problem);
  const { code, errors } = answer.body as { code: string; errors: { field: string }[] };
  expect(code).toBe('validation_failed');
  expect(errors.map(({ field }) => field)).toEqual(fields);
}
