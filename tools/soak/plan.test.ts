import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';
import { countKinds, type Fault, planFaults, planKills } from './plan.ts';
import { Random } from './random.ts';
import { judgeVitals } from './verdict/vitals.ts';
import { chooseWorlds } from './world/kinds.ts';

const faults: Fault[] = ['database', 'database', 'redis', 's3', 'disk'].map((target, i) => ({
  name: `fault ${i}`,
  kind: 'fault',
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

test('of an hour more than a hundred kills are planned, at other moments for another seed', () => {
  const kills = [1, 2, 3].map((seed) => planKills(faults, new Random(seed), 3600));
  for (const all of kills) expect(all.length).toBeGreaterThan(100);
  expect(kills[0]).not.toEqual(kills[1]);
  expect(countKinds(kills[0] ?? [])).toEqual({ fault: kills[0]?.length });
});

test('six minutes have the world that the seed chooses, ten two worlds that hold everything, an hour four that hold everything with everything', () => {
  const names = (minutes: number, seed = 1) => chooseWorlds({}, minutes, seed).map(({ name }) => name);
  expect(names(6)).toHaveLength(1);
  expect(new Set([1, 2, 3, 4, 5, 6, 7, 8].flatMap((seed) => names(6, seed))).size).toBe(8);
  expect(names(10)).toEqual(['deno redis s3', 'node postgres folder']);
  const hour = chooseWorlds({}, 60, 1);
  expect(hour).toHaveLength(4);
  for (const [one, other] of [
    ['runtime', 'queue'],
    ['runtime', 'storage'],
    ['queue', 'storage'],
  ] as const)
    expect(new Set(hour.map((kind) => `${kind[one]} ${kind[other]}`)).size).toBe(4);
  expect(new Set(names(80)).size).toBe(8);
  expect(chooseWorlds({ runtime: 'node', queue: 'redis', storage: 'folder' }, 60, 1).map(({ name }) => name)).toEqual([
    'node redis folder',
  ]);
});

test('a process that ran hot once may stay large, and one that grows on, spins or keeps files may not', () => {
  const look = (mib: number, handles = 30, load = 0) => [{ mib, open: { 'connection to 5432, open': handles }, load }];
  const faults = (...looks: ReturnType<typeof look>[]) => judgeVitals(['worker 1'], looks).faults.length;
  expect(faults(look(110), look(160))).toBe(0);
  expect(faults(look(110), look(210), look(215))).toBe(0);
  expect(faults(look(110), look(210), look(260))).toBe(1);
  expect(faults(look(110), look(290), look(290))).toBe(1);
  expect(faults(look(110), look(110, 60))).toBe(1);
  expect(faults(look(110), look(110, 30, 0.9))).toBe(1);
});
