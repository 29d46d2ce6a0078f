import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { Scale } from './chart-scale.ts';

/** The text of a missing value. */
export const NOTHING = '–';

/** A figure of the trends page: a sum, a plot and a table. */
export interface Figure {
  /** Unique on the page. */
  id: string;
  heading: string;
  /** The total, above the plot. */
  key: Html | string;
  /** The plot, or a sentence that says why there is none. */
  plot: Plot | string;
  /** The headings of the table. */
  columns: readonly string[];
  /** The cells of each place. */
  rows: readonly (readonly string[])[];
  /** A note below the plot. */
  more?: Html | string;
}

/** Renders a figure with its plot and its table. */
export function figureHtml({ id, heading, key, plot, columns, rows, more = '' }: Figure): Html {
  return html`<section class="sheet" id="${id}" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${heading}</h2>
<div class="key">${key}</div>
${typeof plot === 'string' ? html`<p class="none">${plot}</p>` : plotHtml(plot)}
${more}
${typeof plot === 'string' ? '' : tableHtml({ id, heading, columns, rows, plot })}
</section>
`;
}

function tableHtml({
  id,
  heading,
  columns,
  rows,
  plot,
}: Pick<Figure, 'id' | 'heading' | 'columns' | 'rows'> & { plot: Plot }): Html {
  return html`<details id="${id}-table"><summary>As a table</summary>
<div class="table" tabindex="0" role="region" aria-label="${heading}, as a table"><table>
<thead><tr><th scope="col">From (UTC)</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (cells, i) =>
    html`<tr><th scope="row">${plot.places[i]?.name ?? ''}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
)}</tbody>
</table></div></details>`;
}

/** The key of a colour. */
export function sign(tone: string): Html {
  return html`<span class="sign ${tone}" aria-hidden="true"></span>`;
}

/** Formats a number: `1,234`. */
export function amountOf(count: number): string {
  return count.toLocaleString('en');
}

/** In pixels from the top: the highest line, the lowest line, and the whole plot with the labels below it. */
const [TOP, BOTTOM, HEIGHT] = [8, 148, 172];
/** The width of a bar as part of an hour or a day. */
const BAR = 0.72;
/** The part of the axis after which centred labels would stick out of the plot. */
const END = 0.94;

/** An hour or a day of a plot. */
export interface Place {
  /** `2026-11-23 08:00` */
  name: string;
  /** The label below its beginning, if any. */
  tick: string | undefined;
  /** True for a label that narrow screens leave out. */
  isMinor: boolean;
}

/** A plot over hours or days. */
export interface Plot {
  /** A sentence for screen readers. */
  description: string;
  places: readonly Place[];
  /** The tooltip of each place. */
  words: readonly string[];
  scale: Scale;
  marks: Html | readonly Html[];
}

/**
 * Draws a plot that fills its container without scripts: horizontal positions are percentages and vertical ones pixels,
 * so that text keeps its size.
 */
export function plotHtml({ description, places, words, scale, marks }: Plot): Html {
  const lines = scale.ticks.map(({ value, text }) => ({ y: yOf(scale, value), text }));
  const begins = places.map((place, i) => ({
    ...place,
    x: xOf(i, places.length),
    anchor: i > END * places.length ? 'end' : 'middle',
  }));
  const labelled = begins.filter(({ tick }) => tick !== undefined);
  return html`<div class="plot">
<svg class="axis" height="${HEIGHT}" aria-hidden="true">${lines.map(
    ({ y, text }) => html`<text x="100%" dx="-8" y="${y}" dy="4" text-anchor="end">${text}</text>`,
  )}</svg>
<svg class="area" height="${HEIGHT}" role="img" aria-label="${description}">
${lines.map(({ y }, i) => html`<line class="${i === 0 ? 'ground' : 'grid'}" x1="0" x2="100%" y1="${y}" y2="${y}"/>`)}
${labelled.map(
  ({ x, tick, isMinor, anchor }) =>
    html`<g${isMinor ? raw(' class="minor"') : ''}><line class="tick" x1="${x}" x2="${x}" y1="${BOTTOM}" y2="${BOTTOM + 4}"/><text x="${x}" y="${HEIGHT - 4}" text-anchor="${anchor}">${tick}</text></g>`,
)}
${marks}
${begins.map(
  ({ name, x }, i) =>
    html`<rect class="place" x="${x}" y="0" width="${percent(1 / places.length)}" height="${BOTTOM}"><title>${name}${i === places.length - 1 ? ', so far' : ''}: ${words[i]}</title></rect>`,
)}
</svg>
</div>`;
}

/** A series of values, one per place, with its style. */
export interface Series {
  tone: string;
  values: readonly (number | undefined)[];
}

/** Draws stacked bars. */
export function bars(kinds: readonly Series[], scale: Scale): Html[] {
  const count = kinds[0]?.values.length ?? 0;
  return Array.from({ length: count }, (_, i) => {
    let below = 0;
    return kinds.flatMap(({ tone, values }) => {
      const value = values[i] ?? 0;
      if (value <= 0) return [];
      const [from, to] = [yOf(scale, below), yOf(scale, below + value)];
      below += value;
      // Very small values stay visible.
      const height = Math.max(1, from - to);
      const x = percent((i + (1 - BAR) / 2) / count);
      return html`<rect class="${tone}" x="${x}" y="${round(from - height)}" width="${percent(BAR / count)}" height="${round(height)}"/>`;
    });
  }).flat();
}

/** Draws a line from place to place; it has gaps where values are missing. */
export function line({ tone, values }: Series, scale: Scale): Html {
  const points = values.map((value, i) =>
    value === undefined ? undefined : { x: percent((i + 0.5) / values.length), y: yOf(scale, value) },
  );
  const steps = points.flatMap((to, i) => {
    const from = points[i - 1];
    return from && to ? html`<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>` : [];
  });
  const dots = points.flatMap((point) => (point ? html`<circle cx="${point.x}" cy="${point.y}" r="2.5"/>` : []));
  return html`<g class="${tone}">${steps}${dots}</g>`;
}

function xOf(place: number, places: number): string {
  return percent(place / places);
}

function yOf(scale: Scale, value: number): number {
  return round(BOTTOM - scale.heightOf(value) * (BOTTOM - TOP));
}

function percent(part: number): string {
  return `${Number((100 * part).toFixed(3))}%`;
}

function round(pixels: number): number {
  return Number(pixels.toFixed(1));
}
