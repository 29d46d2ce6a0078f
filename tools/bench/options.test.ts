import { expect, test } from 'vitest';
import { parseOptions, TABLES, USAGE, UsageError } from './options.ts';

test('without arguments every table is measured, thoroughly', () => {
  expect(parseOptions([])).toMatchObject({ only: TABLES, quick: false, events: 1_000_000, size: 2 ** 30 });
});

test('some tables, quickly', () => {
  expect(parseOptions(['--only', 'upload,lists,throughput,scheduling', '--quick'])).toMatchObject({
    only: ['upload', 'lists', 'throughput', 'scheduling'],
    quick: true,
    events: 20_000,
    size: 64 * 2 ** 20,
  });
});

test('what is said counts more than --quick', () => {
  expect(parseOptions(['--quick', '--events', '1000', '--size', '4MiB', '--rounds', '1'])).toMatchObject({
    events: 1000,
    size: 4 * 2 ** 20,
    rounds: 1,
  });
});

test('an upload that no page cache holds is measured when asked for', () => {
  expect(parseOptions([])?.huge).toBeUndefined();
  expect(parseOptions(['--huge', '20GiB'])?.huge).toBe(20 * 2 ** 30);
});

test.each([
  [['--only', 'upload,speed'], `--only: "speed" is not one of ${TABLES.join(', ')}.`],
  [['--events', '1e6'], '--events: "1e6" is no such number.'],
  [['--size', '1GB'], '--size: "1GB" is no size such as 512MiB or 1GiB.'],
  [['--huge', 'much'], '--huge: "much" is no size such as 512MiB or 1GiB.'],
  [['--runtime', 'bun'], '--runtime is deno or node.'],
])('%j is refused with what is allowed', (args, message) => {
  expect(() => parseOptions(args)).toThrow(new UsageError(message));
});

test('the help names every table', () => {
  for (const table of TABLES) expect(USAGE).toContain(table);
});
