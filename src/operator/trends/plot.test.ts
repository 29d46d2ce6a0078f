import { expect, test } from 'vitest';
import { bars, line, plotHtml } from './plot.ts';
import { linearScale } from './scale.ts';

const scale = linearScale(4, 'count');
const attributes = (text: string, name: string) =>
  [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => value);

test('bars stand on the lowest line, one kind upon the other, as high as their values', async () => {
  const kinds = [
    { tone: 'received', values: [1, 4, undefined, 0] },
    { tone: 'processed', values: [2, 0, undefined, 0] },
  ];
  const text = (await Promise.all(bars(kinds, scale))).join('');
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
  const text = String(await line({ tone: 'median', values: [1, 2, undefined, 3] }, scale));
  expect(text.match(/<line /g)).toHaveLength(1);
  expect(attributes(text, 'cx')).toEqual(['12.5%', '37.5%', '87.5%']);
  expect(attributes(text, 'cy')).toEqual(['113', '78', '43']);
});

test('each place says what is there, and the last one that it is under way', async () => {
  const places = ['08:00', '09:00'].map((name) => ({ name, tick: undefined, isMinor: false }));
  const text = String(
    await plotHtml({ description: 'Bars.', places, words: ['2', '<b>'], scale, marks: [] }),
  );
  expect([...text.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title)).toEqual([
    '08:00: 2',
    '09:00, so far: &lt;b&gt;',
  ]);
});
