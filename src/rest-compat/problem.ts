import { headersOf } from '../executor/answers/challenge.ts';
import { expectedError, maskedError } from '../executor/answers/errors.ts';
import { type Problem, problemOf } from '../executor/answers/problem.ts';
import { detailOf } from '../model/sentences.ts';
import type { HttpReply } from './http-reply.ts';
import type { Route } from './route.ts';
import type { Violation } from './values.ts';

/** An expected failure: an error code, a sentence, and every violation. */
export interface Failure {
  readonly code: Problem['code'];
  readonly message: string;
  readonly violations?: readonly Violation[];
}

/** The reply with a failure as problem details. */
export function problemReply(
  failure: Failure,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return problemDetails(problemOf(failure, requestId), headers);
}

/** The failure for violations of the parameters or the body of a request. */
export function refusalOf(
  code: 'invalid_request' | 'validation_failed',
  violations: readonly Violation[],
): Failure {
  return { code, message: detailOf(violations), violations };
}

/**
 * The problem for an error of a route's operation, with the field names of REST. An error of the document or its
 * variables is a bug of the route, which is passed to `report`.
 */
export function operationProblem(
  route: Route,
  error: Error,
  requestId: string,
  report: ((error: unknown) => void) | undefined,
): HttpReply {
  const expected = expectedError(error) ?? maskedError;
  const isRouteBug = expected.code.startsWith('graphql_');
  if (isRouteBug) report?.(error);
  const failure = isRouteBug ? maskedError : expected;
  const problem = problemOf(inRestNames(failure, route), requestId);
  return problemDetails(route.hasShortProblems ? shortProblemOf(problem) : problem, headersOf(failure));
}

function inRestNames(
  { code, message, violations }: Failure & { violations: readonly Violation[] },
  { restNames }: Route,
): Failure {
  if ((code !== 'invalid_request' && code !== 'validation_failed') || violations.length === 0)
    return { code, message };
  return refusalOf(
    code,
    violations.map(({ field, message }) => ({ field: inRestName(field, restNames), message })),
  );
}

/** A failure of a probe, which has only four fields in the specification. */
function shortProblemOf({
  type,
  title,
  status,
  detail,
}: Problem): Pick<Problem, 'type' | 'title' | 'status' | 'detail'> {
  return { type, title, status, detail };
}

/** `input.statusId` → `initialStatusId`. The rest of a path stays the same. */
function inRestName(field: string, names: Readonly<Record<string, string>>): string {
  const [, name = '', rest = ''] = /^(?:input\.)?(\w*)(.*)$/s.exec(field) ?? [];
  return `${names[name] ?? name}${rest}`;
}

/** The reply with these problem details as its body. */
export function problemDetails(
  problem: Pick<Problem, 'status'>,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return {
    status: problem.status,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', ...headers },
    body: JSON.stringify(problem),
  };
}
