import type { Predicate } from '../db/query/conditions/predicate.ts';
import { maxInt32 } from '../model/int32.ts';
import { raise } from './errors.ts';
import { decodeId, type IdPrefix, parseId } from './ids.ts';

const keyPattern = /^([A-Z][A-Z0-9]{0,9})-([1-9]\d{0,9})$/;

/**
 * Parses an issue key in upper or lower case; undefined if the text is not a key (docs/contract.md, "One identity").
 */
export function parseIssueKey(key: string): { teamCode: string; number: number } | undefined {
  const match = keyPattern.exec(asciiUpper(key));
  const [, teamCode, digits] = match ?? [];
  const number = Number(digits);
  return teamCode && number <= maxInt32 ? { teamCode, number } : undefined;
}

export function issueKey(teamCode: string, number: number): string {
  return `${teamCode}-${number}`;
}

/** The predicate that finds an issue by its key or its id; undefined if the text is neither. */
export function issueNamed(keyOrId: string): Predicate | undefined {
  const key = parseIssueKey(keyOrId);
  if (!key) return byId('issue', keyOrId, 'key');
  return {
    all: [
      { column: 'number', is: 'eq', value: key.number },
      {
        column: 'teamId',
        references: 'team',
        by: 'id',
        where: { column: 'code', is: 'eq', value: key.teamCode },
      },
    ],
  };
}

export function teamNamed(codeOrId: string): Predicate | undefined {
  const code = asciiUpper(codeOrId);
  return /^[A-Z][A-Z0-9]{0,9}$/.test(code)
    ? { column: 'code', is: 'eq', value: code }
    : byId('team', codeOrId, 'code');
}

export function projectNamed(keyOrId: string): Predicate | undefined {
  const key = asciiUpper(keyOrId);
  return /^[A-Z][A-Z0-9-]{0,49}$/.test(key)
    ? { column: 'key', is: 'eq', value: key }
    : byId('project', keyOrId, 'key');
}

/**
 * The predicate for an id; undefined if the text is not an id. An id with another prefix is an error, since it must be
 * a mistake.
 */
export function byId(prefix: IdPrefix, id: string, argument = 'id'): Predicate | undefined {
  if (!parseId(id)) return undefined;
  const decoded = decodeId(prefix, id);
  if ('uuid' in decoded) return { column: 'id', is: 'eq', value: decoded.uuid };
  return raise('invalid_request', `${capitalized(decoded.problem)}.`, [
    { field: argument, message: decoded.problem },
  ]);
}

/** The maximum length of all keys and codes. */
const maxKeyLength = 50;

/**
 * Converts only ASCII letters to upper case: `toUpperCase` would turn ß into SS and ſ into S, and accept wrong codes. A
 * text that is too long for a key is returned as it is, since the conversion would take a fifth of a second for a
 * megabyte.
 */
export function asciiUpper(text: string): string {
  if (text.length > maxKeyLength) return text;
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
