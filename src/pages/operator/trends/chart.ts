import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import { sizeOf, spanOf } from '../frame/format-units.ts';

/** A grid line and its label. */
interface Tick {
  value: number;
  text: string;
}

/** Maps values to heights in a plot. */
interface Scale {
  /** The lowest first. */
  ticks: readonly Tick[];
  isLogarithmic: boolean;
  /** From 0 at the bottom to 1 at the top. */
  heightOf(value: number): number;
}

const MOST_STEPS = 4;
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

const times = (factors: readonly number[], units: readonly number[]) =>
  units.flatMap((unit) => factors.map((factor) => factor * unit));
const powers = (base: number, count: number) => Array.from({ length: count }, (_, i) => base ** i);

/** The steps between grid lines and the format of the labels, by unit. */
const UNITS = {
  count: { steps: times([1, 2, 5], powers(10, 15)), text: (n: number) => n.toLocaleString('en') },
  bytes: { steps: times([1, 2, 5, 10, 20, 50, 100, 200, 500], powers(1024, 6)), text: roundSize },
  ms: {
    steps: [
      ...times([1, 2, 5], [1, 10, 100]),
      ...times([1, 2, 5, 10, 15, 30], [SECOND, MINUTE]),
      ...times([1, 2, 5, 10, 20, 50], [HOUR, 100 * HOUR, 10_000 * HOUR]),
    ],
    text: roundSpan,
  },
} as const;

const decades = (unit: number, name: string, count: number): Tick[] =>
  powers(10, count).map((factor) => ({ value: factor * unit, text: `${factor} ${name}` }));
/** The grid lines of a logarithmic scale of durations. */
const DECADES = [
  ...decades(1, 'ms', 3),
  ...decades(SECOND, 's', 2),
  ...decades(MINUTE, 'min', 2),
  ...decades(HOUR, 'h', 6),
];
/** The ratio of durations above which the scale is logarithmic. */
const WIDE = 20;

/** Returns a scale from zero to a round number at or above the largest value. */
export function linearScale(largest: number, unit: keyof typeof UNITS): Scale {
  const { steps, text } = UNITS[unit];
  const step = steps.find((each) => largest / each <= MOST_STEPS) ?? largest / MOST_STEPS;
  const count = Math.max(1, Math.ceil(largest / step));
  const top = count * step;
  return {
    ticks: Array.from({ length: count + 1 }, (_, i) => ({ value: i * step, text: text(i * step) })),
    isLogarithmic: false,
    heightOf: (value) => Math.min(1, Math.max(0, value / top)),
  };
}

/** Returns a scale of durations in milliseconds. It is logarithmic if they differ widely. */
export function lengthScale(lengths: readonly number[]): Scale {
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  if (longest <= WIDE * shortest) return linearScale(longest, 'ms');
  const first = Math.max(
    0,
    DECADES.findLastIndex(({ value }) => value <= shortest),
  );
  const last = DECADES.findIndex(({ value }) => value >= longest);
  const ticks = DECADES.slice(first, last < 0 ? undefined : last + 1);
  const [low, high] = [Math.log(ticks[0]?.value ?? 1), Math.log(ticks.at(-1)?.value ?? 1)];
  const heightOf = (value: number) =>
    value <= 0 ? 0 : Math.min(1, Math.max(0, (Math.log(value) - low) / (high - low)));
  return { ticks, isLogarithmic: true, heightOf };
}

/** Formats a round size: `5 GiB`. */
function roundSize(bytes: number): string {
  return bytes === 0 ? '0' : sizeOf(bytes).replace('.0 ', ' ');
}

/** Formats a round duration: `5 s`. */
function roundSpan(ms: number): string {
  return ms === 0 ? '0' : spanOf(ms).replace('.0 ', ' ');
}

/** The text of a missing value. */
export const NOTHING = '–';

/** A figure of the trends page: a sum, a plot and a table. */
export interface Figure {
  /** Unique on the page. */
  id: string;
  heading: string;
  /** The total, above the plot. */
  key: Html | string;
  /** The plot, or a sentence in its place. */
  plot: Plot | string;
  /** The headings of the table. */
  columns: readonly string[];
  /** The cells of each place. */
  rows: readonly (readonly string[])[];
  /** A note below the plot. */
  more?: Html | string;
}

export function figureHtml({ id, heading, key, plot, columns, rows, more = '' }: Figure): Html {
  return html`<section class="sheet" id="${id}" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${heading}</h2>
<div class="key">${key}</div>
${typeof plot === 'string' ? html`<p class="none">${plot}</p>` : plotHtml(plot)}
${more}
${typeof plot === 'string' ? '' : tableHtml({ id, heading, columns, rows }, plot)}
</section>
`;
}

function tableHtml(
  { id, heading, columns, rows }: Pick<Figure, 'id' | 'heading' | 'columns' | 'rows'>,
  { places }: Plot,
): Html {
  return html`<details id="${id}-table"><summary>As a table</summary>
<div class="table" tabindex="0" role="region" aria-label="${heading}, as a table"><table>
<thead><tr><th scope="col">From (UTC)</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (cells, i) =>
    html`<tr><th scope="row">${places[i]?.name ?? ''}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
)}</tbody>
</table></div></details>`;
}

/** A legend symbol. */
export function sign(tone: string): Html {
  return html`<span class="sign ${tone}" aria-hidden="true"></span>`;
}

/** Pixels from the top: the highest line, the lowest line, and the end of the labels. */
const [TOP, BOTTOM, HEIGHT] = [8, 148, 172];
/** The width of a bar relative to its place. */
const BAR = 0.72;
/** The share of the axis after which centred labels would overflow. */
const END = 0.94;

/** An hour or a day of a plot. */
export interface Place {
  /** `2026-11-23 08:00` */
  name: string;
  /** The label at its start, if any. */
  tick: string | undefined;
  /** Narrow screens omit the label. */
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
  const anchored = places.map((place, i) => ({
    ...place,
    x: percent(i / places.length),
    anchor: i > END * places.length ? 'end' : 'middle',
  }));
  const labelled = anchored.filter(({ tick }) => tick !== undefined);
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
${anchored.map(
  ({ name, x }, i) =>
    html`<rect class="place" x="${x}" y="0" width="${percent(1 / places.length)}" height="${BOTTOM}"><title>${name}${i === places.length - 1 ? ', so far' : ''}: ${words[i]}</title></rect>`,
)}
</svg>
</div>`;
}

/** A series of values, one per place, and its CSS class. */
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

/** Draws a line with gaps where values are missing. */
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

function yOf(scale: Scale, value: number): number {
  return round(BOTTOM - scale.heightOf(value) * (BOTTOM - TOP));
}

function percent(part: number): string {
  return `${Number((100 * part).toFixed(3))}%`;
}

function round(pixels: number): number {
  return Number(pixels.toFixed(1));
}
