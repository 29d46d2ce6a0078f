import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { Lengths, Slot, Trends } from '#statistics/trends.ts';
import { spanOf } from '../frame/words.ts';
import { amountOf, type Figure, NOTHING, sign } from './figure.ts';
import { placesOf } from './places.ts';
import { line, type Plot } from './plot.ts';
import { lengthScale } from './scale.ts';

/** How long operations that were ready waited until a worker took them. */
export function waitingFigure(trends: Trends): Figure {
  return lengthsFigure(trends, {
    ...{ id: 'waiting', heading: 'Waiting for a worker', of: ({ waiting }) => waiting },
    ...{ one: 'operation', many: 'operations', none: 'No operation was begun in this time.' },
    note: 'From the moment an operation could begin to the moment a worker took it.',
  });
}

/** How long it took until recordings could be watched. */
export function publishingFigure(trends: Trends): Figure {
  return lengthsFigure(trends, {
    ...{ id: 'publishing', heading: 'Time to publication', of: ({ publishing }) => publishing },
    ...{ one: 'publication', many: 'publications', none: 'Nothing was published in this time.' },
    note: 'From the start of the workflow to the publication, pauses for people included.',
  });
}

interface LengthsWanted extends Pick<Figure, 'id' | 'heading'> {
  of(figures: Pick<Slot, 'waiting' | 'publishing'>): Lengths | undefined;
  one: string;
  many: string;
  none: string;
  note: string;
}

function lengthsFigure({ span, slots, total }: Trends, wanted: LengthsWanted): Figure {
  const { id, heading, of, one, many, none, note } = wanted;
  const all = slots.map(of);
  const known = all.flatMap((lengths) => (lengths ? [lengths.median, lengths.p95] : []));
  const tell = ({ count, median, p95 }: Lengths) =>
    `median ${spanOf(median)}, 95th percentile ${spanOf(p95)}, ${count === 1 ? `1 ${one}` : `${amountOf(count)} ${many}`}`;
  return {
    ...{ id, heading, key: lengthsKey(of(total), many) },
    plot: known.length === 0 ? none : lengthsPlot({ all, known, places: placesOf(span, slots), none, tell }),
    columns: ['Median', '95th percentile', `${many[0]?.toUpperCase()}${many.slice(1)}`],
    rows: all.map((lengths) =>
      lengths
        ? [spanOf(lengths.median), spanOf(lengths.p95), amountOf(lengths.count)]
        : [NOTHING, NOTHING, '0'],
    ),
    more: html`<p class="note">${note} Told within 10 %.</p>`,
  };
}

function lengthsKey(lengths: Lengths | undefined, many: string): Html | string {
  if (!lengths) return html`<p><strong>0</strong> ${many}</p>`;
  return html`<p>${sign('median')}<strong>${spanOf(lengths.median)}</strong> median</p> <p>${sign('p95')}<strong>${spanOf(lengths.p95)}</strong> 95th percentile</p>`;
}

function lengthsPlot({
  all,
  known,
  places,
  none,
  tell,
}: {
  all: readonly (Lengths | undefined)[];
  known: readonly number[];
  places: Plot['places'];
  none: string;
  tell(lengths: Lengths): string;
}): Plot {
  const scale = lengthScale(known);
  const [median, p95] = (['median', 'p95'] as const).map((tone) =>
    line({ tone, values: all.map((lengths) => lengths?.[tone]) }, scale),
  );
  const kind = scale.isLogarithmic ? 'Lines on a logarithmic scale' : 'Lines';
  return {
    description: `${kind}: the median and the 95th percentile, ${spanOf(Math.max(...known))} at most.`,
    words: all.map((lengths) => (lengths ? tell(lengths) : none)),
    ...{ places, scale, marks: html`${p95 ?? ''}${median ?? ''}` },
  };
}
