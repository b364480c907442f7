import { expect, it } from '@jest/globals';
import { ValuesByForm } from '../../src/executor/compiled/run/values-by-form.ts';

it('a field remembers the values of a few short forms of its arguments', () => {
  const values = new ValuesByForm<{ form: string }>();
  let made = 0;
  const valueOf = (form: string) => values.of(form, () => ({ form: `${form} ${(made += 1)}` }));
  expect(valueOf('short')).toBe(valueOf('short'));
  const long = 'x'.repeat(1_001);
  expect(valueOf(long)).not.toBe(valueOf(long));
  expect(made).toBe(3);
  for (let other = 0; other < 100; other += 1) valueOf(`other ${other}`);
  made = 0;
  for (let other = 0; other < 100; other += 1) valueOf(`other ${other}`);
  expect(made).toBeGreaterThan(70);
});
