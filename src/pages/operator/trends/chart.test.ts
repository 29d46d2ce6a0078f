import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bars, lengthScale, line, linearScale, plotHtml } from './chart.ts';

const texts = ({ ticks }: { ticks: readonly { text: string }[] }) => ticks.map(({ text }) => text);
const GIB = 1024 ** 3;

test.each([
  ['count', 0, ['0', '1']],
  ['count', 3, ['0', '1', '2', '3']],
  ['count', 1_389, ['0', '500', '1,000', '1,500']],
  ['bytes', 7.3 * GIB, ['0', '2 GiB', '4 GiB', '6 GiB', '8 GiB']],
  ['bytes', 1_023 * GIB, ['0', '500 GiB', '1000 GiB', '1.5 TiB']],
  ['ms', 3_200, ['0', '1 s', '2 s', '3 s', '4 s']],
  ['ms', 100 * 60_000, ['0', '30 min', '60 min', '90 min', '2 h']],
] as const)('%s up to %d is told by round numbers', (unit, largest, lines) => {
  expect(texts(linearScale(largest, unit))).toEqual(lines);
});

test('every value stands in the plot, a larger one higher, whatever is counted', () => {
  const values = fc.array(fc.double({ min: 0, max: 1e15, noNaN: true }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(values, fc.constantFrom('count', 'bytes', 'ms'), (all, unit) => {
      const scale = linearScale(Math.max(...all), unit);
      expect(scale.ticks.length).toBeLessThanOrEqual(6);
      expect(scale.heightOf(scale.ticks.at(-1)?.value ?? 0)).toBe(1);
      const heights = [...all].sort((a, b) => a - b).map(scale.heightOf);
      expect(heights).toEqual([...heights].sort((a, b) => a - b));
      expect(heights.every((height) => height >= 0 && height <= 1)).toBe(true);
    }),
  );
});

test('lengths of time of about the same size stand on a scale from nothing', () => {
  const scale = lengthScale([20_000, 35_000]);
  expect([scale.isLogarithmic, ...texts(scale)]).toEqual([false, '0', '10 s', '20 s', '30 s', '40 s']);
  expect(scale.heightOf(20_000)).toBeCloseTo(0.5);
});

test('lengths of time that differ much stand on a logarithmic one', () => {
  const scale = lengthScale([40, 2_000, 300_000]);
  expect([scale.isLogarithmic, ...texts(scale)]).toEqual([
    ...[true, '10 ms', '100 ms', '1 s', '10 s', '1 min', '10 min'],
  ]);
  expect([10, 600_000].map(scale.heightOf)).toEqual([0, 1]);
});

test('lengths of time of any size have lines above and below them', () => {
  const lengths = fc.array(fc.double({ min: 1, max: 3.6e11, noNaN: true }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(lengths, (all) => {
      const { ticks, heightOf } = lengthScale(all);
      expect(ticks[0]?.value ?? Number.NaN).toBeLessThanOrEqual(Math.min(...all));
      expect(ticks.at(-1)?.value ?? Number.NaN).toBeGreaterThanOrEqual(Math.max(...all));
      const heights = [...all].sort((a, b) => a - b).map(heightOf);
      expect(heights).toEqual([...heights].sort((a, b) => a - b));
    }),
  );
});

const FOUR = linearScale(4, 'count');
const attributes = (text: string, name: string) =>
  [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => value);

test('bars stand on the lowest line, one kind upon the other, as high as their values', async () => {
  const kinds = [
    { tone: 'received', values: [1, 4, undefined, 0] },
    { tone: 'processed', values: [2, 0, undefined, 0] },
  ];
  const text = (await Promise.all(bars(kinds, FOUR))).join('');
  // From 148 up to 8 pixels are four.
  expect(attributes(text, 'y')).toEqual(['113', '43', '8']);
  expect(attributes(text, 'height')).toEqual(['35', '70', '140']);
  expect(attributes(text, 'class')).toEqual(['received', 'processed', 'received']);
});

test('what is very little is seen all the same', async () => {
  const [bar] = bars([{ tone: 'usual', values: [1] }], linearScale(100_000, 'count'));
  expect(attributes(String(await bar), 'height')).toEqual(['1']);
});

test('a line breaks off where there is nothing, and what stands alone is a dot', async () => {
  const text = String(await line({ tone: 'median', values: [1, 2, undefined, 3] }, FOUR));
  expect(text.match(/<line /g)).toHaveLength(1);
  expect(attributes(text, 'cx')).toEqual(['12.5%', '37.5%', '87.5%']);
  expect(attributes(text, 'cy')).toEqual(['113', '78', '43']);
});

test('each place says what is there, and the last one that it is under way', async () => {
  const places = ['08:00', '09:00'].map((name) => ({ name, tick: undefined, isMinor: false }));
  const text = String(await plotHtml({ description: 'Bars.', places, words: ['2', '<b>'], scale: FOUR, marks: [] }));
  const titles = [...text.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
  expect(titles).toEqual(['08:00: 2', '09:00, so far: &lt;b&gt;']);
});
