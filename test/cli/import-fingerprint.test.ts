import { expect, it } from '@jest/globals';
import { timeOf } from '../../src/cli/import/records.ts';
import { cleanIssue } from '../../src/portability/import/import-clean.ts';
import type { ImportedIssue } from '../../src/portability/import/import-issue.ts';

const time = new Date('2026-01-01T00:00:00Z');

const issue: ImportedIssue = {
  sourceId: 'ENG-1',
  teamCode: 'ENG',
  title: ' Fix it ',
  description: 'All of it',
  status: { name: 'Done', category: 4 },
  priority: 1,
  reporter: { name: 'Ada', emailAddress: 'ada@example.com' },
  primaryAssignee: undefined,
  assignees: [{ name: 'Bob' }],
  labels: ['bug'],
  parentSourceId: 'ENG-2',
  projectKey: null,
  deliveryNumber: 3,
  estimateValue: 5,
  dueDate: '2026-01-31',
  createdUtc: time,
  updatedUtc: time,
  closedUtc: time,
  comments: [{ sourceId: '1', author: undefined, body: 'Hello', createdUtc: time }],
  links: [{ url: 'https://example.com/a', title: 'A', createdUtc: undefined, createdBy: undefined }],
  roleAssignments: [{ role: 'Reviewer', person: { name: 'Cy' } }],
  subscribers: undefined,
  relations: [],
  fields: { b: 1, a: 2 },
};

function fingerprintOf(raw: ImportedIssue): string {
  const cleaned = cleanIssue(raw, time);
  if ('refused' in cleaned) throw new Error(cleaned.refused);
  return cleaned.issue.fingerprint;
}

// The fingerprints below were stored by the release before the fields of an issue were declared once. An import compares
// them with new ones, so another value here would report every issue of an earlier import as changed.

it('an issue keeps the fingerprint that earlier releases stored', () => {
  expect(fingerprintOf(issue)).toBe('pghynZP8YQjXBMuw8pdM2Uw4_BqjM0YWH7V_E6cIc4I');
});

it('an issue of a source that knows few fields keeps the fingerprint that earlier releases stored', () => {
  const { teamCode: _code, projectKey: _key, deliveryNumber: _number, estimateValue: _value, ...few } = issue;
  expect(fingerprintOf(few)).toBe('Zck3Pp_KN-r2aaRwgFUkcWrFAvJsk8AZ7Zk5cuAMvbA');
});

it('a time without an offset is in UTC, in whatever time zone the machine is', () => {
  const { TZ } = process.env;
  process.env.TZ = 'America/New_York';
  try {
    expect(new Date('2026-01-01T00:00:00').getTimezoneOffset()).toBe(300);
    for (const text of ['2026-01-01T10:00', '2026-01-01T10:00:00.000', '2026-01-01T10:00Z'])
      expect(timeOf(text)).toEqual(new Date('2026-01-01T10:00:00Z'));
    for (const text of ['2026-01-01T12:00+02:00', '2026-01-01T12:00:00.000+0200'])
      expect(timeOf(text)).toEqual(new Date('2026-01-01T10:00:00Z'));
    expect(timeOf('2026-01-01T10:00 or so')).toBeUndefined();
  } finally {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
});

it('a date is the beginning of that day in UTC, if the day exists', () => {
  expect(timeOf('2026-01-31')).toEqual(new Date('2026-01-31T00:00:00Z'));
  for (const text of ['2026-02-30', '2026-01-31 10:00', '2026-1-31', '0000-01-01'])
    expect(timeOf(text)).toBeUndefined();
});

it('the order in which a source gives the fields does not change the fingerprint', () => {
  const reversed = Object.fromEntries(Object.entries(issue).toReversed()) as typeof issue;
  expect(fingerprintOf(reversed)).toBe(fingerprintOf(issue));
});

it('a field that was added later changes the fingerprint only where it has a value', () => {
  const empty = { ...issue, severity: null, watchers: [] };
  expect(fingerprintOf(empty)).toBe(fingerprintOf(issue));
  expect(fingerprintOf({ ...empty, severity: 'high' } as ImportedIssue)).not.toBe(fingerprintOf(issue));
});
