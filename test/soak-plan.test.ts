import { expect, test } from 'vitest';
import { type Fault, planFaults } from './soak/faults.ts';
import { parseOptions } from './soak/options.ts';
import { Random } from './soak/random.ts';

const faults: Fault[] = ['database', 'database', 'redis', 's3', 'disk'].map((target, i) => ({
  name: `fault ${i}`,
  target,
  begin: () => undefined,
  ...(i % 2 === 0 && { end: () => undefined }),
}));
const plan = (seed: number) => planFaults(faults, new Random(seed), 1800);

test('a soak of the same seed has the same faults, and of another one others', () => {
  expect(plan(1)).toEqual(plan(1));
  expect(plan(1)).not.toEqual(plan(2));
});

test('of a soak two faults at most last at once, and never two of one part; all are over at its end', () => {
  const all = [1, 2, 3].map(plan);
  for (const faults of all) {
    expect(new Set(faults.map(({ fault }) => fault.target)).size).toBe(4);
    for (const { fault, at, seconds } of faults) {
      const during = faults.filter((other) => other.at <= at && at < other.at + other.seconds);
      expect(during.length).toBeLessThanOrEqual(2);
      expect(during.filter((other) => other.fault.target === fault.target).length).toBeLessThanOrEqual(1);
      expect(at + seconds).toBeLessThanOrEqual(1800);
    }
  }
});

test('a command line of the soak that is not understood is told with what is allowed', () => {
  expect(() => parseOptions(['--queue', 'kafka'])).toThrow('--queue is kafka; allowed is redis or postgres.');
  expect(() => parseOptions(['--minutes', 'ten'])).toThrow(/--minutes is ten; allowed is a number/);
  expect(() => parseOptions(['--quue', 'redis'])).toThrow(/quue/);
  expect(parseOptions(['--seed', '7', '--only', 'a,b'])).toMatchObject({ seed: 7, only: ['a', 'b'] });
});
