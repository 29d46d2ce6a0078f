import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { Scale } from './scale.ts';

/** In pixels, from the top: of the highest line, of the lowest one, and of all with the words below it. */
const [TOP, BOTTOM, HEIGHT] = [8, 148, 172];
/** How much of the room of an hour or a day a bar takes. */
const BAR = 0.72;
/** From where on words in the middle of their place would stand beside the plot. */
const END = 0.94;

/** An hour or a day of a plot. */
export interface Place {
  /** `2026-11-23 08:00` */
  name: string;
  /** What stands below its beginning, if anything. */
  tick: string | undefined;
  /** Whether that is left out where there is little room. */
  isMinor: boolean;
}

/** A picture of how something went. */
export interface Plot {
  /** What is seen, in a sentence, for whoever does not see it. */
  description: string;
  places: readonly Place[];
  /** Of each place, what is said of it when somebody points at it. */
  words: readonly string[];
  scale: Scale;
  marks: Html | readonly Html[];
}

/**
 * Draws a plot that is as wide as its place: what lies across is counted in percent of that and what lies upright in
 * pixels, so that words keep their size.
 */
export function plotHtml({ description, places, words, scale, marks }: Plot): Html {
  const lines = scale.ticks.map(({ value, text }) => ({ y: yOf(scale, value), text }));
  const begins = places.map((place, i) => ({
    ...place,
    x: xOf(i, places.length),
    anchor: i > END * places.length ? 'end' : 'middle',
  }));
  const told = begins.filter(({ tick }) => tick !== undefined);
  return html`<div class="plot">
<svg class="axis" height="${HEIGHT}" aria-hidden="true">${lines.map(
    ({ y, text }) => html`<text x="100%" dx="-8" y="${y}" dy="4" text-anchor="end">${text}</text>`,
  )}</svg>
<svg class="area" height="${HEIGHT}" role="img" aria-label="${description}">
${lines.map(({ y }, i) => html`<line class="${i === 0 ? 'ground' : 'grid'}" x1="0" x2="100%" y1="${y}" y2="${y}"/>`)}
${told.map(
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

/** A kind of bar: how it looks, and how much there is of it at each place. */
export interface Series {
  tone: string;
  values: readonly (number | undefined)[];
}

/** Bars, one kind upon the other. */
export function bars(kinds: readonly Series[], scale: Scale): Html[] {
  const count = kinds[0]?.values.length ?? 0;
  return Array.from({ length: count }, (_, i) => {
    let below = 0;
    return kinds.flatMap(({ tone, values }) => {
      const value = values[i] ?? 0;
      if (value <= 0) return [];
      const [from, to] = [yOf(scale, below), yOf(scale, below + value)];
      below += value;
      // What is very little is seen all the same.
      const height = Math.max(1, from - to);
      const x = percent((i + (1 - BAR) / 2) / count);
      return html`<rect class="${tone}" x="${x}" y="${round(from - height)}" width="${percent(BAR / count)}" height="${round(height)}"/>`;
    });
  }).flat();
}

/** A line from place to place; it breaks off where there is nothing. */
export function line({ tone, values }: Series, scale: Scale): Html {
  const points = values.map((value, i) =>
    value === undefined ? undefined : { x: percent((i + 0.5) / values.length), y: yOf(scale, value) },
  );
  const steps = points.flatMap((to, i) => {
    const from = points[i - 1];
    return from && to ? html`<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>` : [];
  });
  const dots = points.flatMap((point) =>
    point ? html`<circle cx="${point.x}" cy="${point.y}" r="2.5"/>` : [],
  );
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
