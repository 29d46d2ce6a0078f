import { html } from 'hono/html';
import { bytesOf, type Trends } from '#statistics/trends.ts';
import { sizeOf } from '../frame/words.ts';
import { amountOf, type Figure, NOTHING, sign } from './figure.ts';
import { placesOf } from './places.ts';
import { bars } from './plot.ts';
import { linearScale } from './scale.ts';

/** Recordings that came. */
export function uploadsFigure({ span, slots, total }: Trends): Figure {
  const values = slots.map(({ uploads }) => uploads);
  const scale = linearScale(Math.max(...values), 'count');
  const words = values.map((count) => (count === 1 ? '1 recording' : `${amountOf(count)} recordings`));
  return {
    id: 'uploads',
    heading: 'Uploads',
    key: html`<p><strong>${amountOf(total.uploads)}</strong> ${total.uploads === 1 ? 'recording' : 'recordings'} came</p>`,
    plot:
      total.uploads === 0
        ? 'No recording came in this time.'
        : {
            description: `Bars: how many recordings came, ${amountOf(Math.max(...values))} at most.`,
            places: placesOf(span, slots),
            ...{ words, scale, marks: bars([{ tone: 'usual', values }], scale) },
          },
    columns: ['Recordings'],
    rows: values.map((count) => [amountOf(count)]),
  };
}

/** Their bytes. */
export function bytesFigure({ span, slots, total }: Trends): Figure {
  const values = slots.map(({ bytes }) => bytes);
  const scale = linearScale(Math.max(...values), 'bytes');
  const words = values.map(sizeOf);
  return {
    id: 'received',
    heading: 'Received',
    key: html`<p><strong>${sizeOf(total.bytes)}</strong> in these recordings${total.uploads > 0 ? `, ${sizeOf(Math.round(total.bytes / total.uploads))} each on average` : ''}</p>`,
    plot:
      total.bytes === 0
        ? 'Nothing was received in this time.'
        : {
            description: `Bars: how much was received, ${sizeOf(Math.max(...values))} at most.`,
            places: placesOf(span, slots),
            ...{ words, scale, marks: bars([{ tone: 'usual', values }], scale) },
          },
    columns: ['Size'],
    rows: words.map((size) => [size]),
  };
}

/** How much is stored. */
export function storageFigure({ span, slots, stored, growth }: Trends): Figure {
  const sizes = slots.map(({ storage }) => storage);
  const scale = linearScale(Math.max(0, ...sizes.flatMap((size) => (size ? bytesOf(size) : []))), 'bytes');
  const kinds = (['received', 'processed', 'unfinished'] as const).map((tone) => ({
    tone,
    values: sizes.map((size) => size?.[tone]),
  }));
  const grown = growth.flatMap(({ days, bytes }) =>
    bytes === undefined ? [] : `${bytes < 0 ? '−' : '+'}${sizeOf(Math.abs(bytes))} in ${DAYS[days]}`,
  );
  const cells = sizes.map((size) =>
    size ? [bytesOf(size), size.received, size.processed, size.unfinished].map(sizeOf) : undefined,
  );
  return {
    id: 'storage',
    heading: 'Storage used',
    key: stored
      ? html`<p><strong>${sizeOf(bytesOf(stored))}</strong></p> <p>${grown.join(', ')}</p>
<p>${sign('received')}${sizeOf(stored.received)} received</p> <p>${sign('processed')}${sizeOf(stored.processed)} made by processing</p> <p>${sign('unfinished')}${sizeOf(stored.unfinished)} of no event yet</p>`
      : '',
    plot: cells.some((each) => each !== undefined)
      ? {
          description: `Bars: how much was stored, ${sizeOf(stored ? bytesOf(stored) : 0)} at last.`,
          places: placesOf(span, slots),
          words: cells.map((each) =>
            each
              ? `${each[0]}: ${each[1]} received, ${each[2]} made by processing, ${each[3]} of no event yet`
              : 'not measured',
          ),
          ...{ scale, marks: bars(kinds, scale) },
        }
      : 'It has not been measured in this time.',
    columns: ['All', 'Received', 'Made by processing', 'Of no event yet'],
    rows: cells.map((each) => each ?? [NOTHING, NOTHING, NOTHING, NOTHING]),
  };
}

const DAYS: Readonly<Record<number, string>> = { 1: 'a day', 7: 'a week', 30: '30 days' };
