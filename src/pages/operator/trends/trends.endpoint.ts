import { html, raw } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { bytesOf, countsOf, type Span, storageOf, trendsOf } from '#statistics/trends.ts';
import { minuteOf } from '../frame/format-units.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { figureHtml } from './chart.ts';
import { figuresOf } from './trend-figures.ts';

const TRENDS_STYLE = `
:root { --second: #c26a00; --pale: #86b8e8; --paler: #c9ccd2; }
@media (prefers-color-scheme: dark) { :root { --second: #f0b35a; --pale: #33618f; --paler: #59626f; } }
.lead { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .4rem 1.2rem; margin: .6rem 0 0; }
.lead p { margin: 0; color: var(--faint); }
.spans { display: flex; border: 1px solid var(--line); border-radius: .5rem; background: var(--sheet); overflow: hidden; }
.spans a { padding: .3rem .9rem; color: var(--faint); text-decoration: none; }
.spans a[aria-current] { background: var(--accent); color: var(--on-accent); font-weight: 600; }
.spans a:focus-visible { outline-offset: -3px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; margin-top: 1.2rem; align-items: start; }
.figures section { margin: 0; min-width: 0; padding: .9rem 1rem; }
.figures h2 { margin: 0; font-size: 1.05rem; }
.figures h3 { margin: .9rem 0 .4rem; font-size: .92rem; color: var(--faint); }
.key { display: flex; flex-wrap: wrap; gap: 0 1.2rem; min-height: 2.2rem; align-items: baseline; color: var(--faint); }
.key p, .none, .note { margin: .15rem 0; }
.key strong { color: var(--text); font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.key strong.alarm { color: var(--alarm); }
.none { padding: 2.6rem 0; color: var(--faint); text-align: center; }
.note { color: var(--faint); font-size: .85rem; }
.plot { display: grid; grid-template-columns: 4.3rem minmax(0, 1fr); margin: .5rem 0 .2rem; }
.plot svg { display: block; width: 100%; overflow: visible; }
.plot text { fill: var(--faint); font-size: .75rem; font-variant-numeric: tabular-nums; }
.grid, .ground, .tick { stroke: var(--line); }
.ground, .tick { stroke: var(--faint); stroke-opacity: .6; }
.usual, .received { fill: var(--busy); }
.processed { fill: var(--pale); }
.unfinished { fill: var(--paler); }
.failed { fill: var(--alarm); }
.median, .p95 { fill: none; stroke: var(--busy); stroke-width: 2; stroke-linecap: round; }
.p95 { stroke: var(--second); }
.median circle { fill: var(--busy); stroke: none; }
.p95 circle { fill: var(--second); stroke: none; }
.place { fill: var(--text); fill-opacity: 0; }
.place:hover { fill-opacity: .08; }
.sign { display: inline-block; width: .7rem; height: .7rem; margin-right: .4rem; border-radius: .15rem; background: var(--busy); }
.sign.p95 { background: var(--second); }
.sign.processed { background: var(--pale); }
.sign.unfinished { background: var(--paler); }
.reasons { list-style: none; margin: 0; padding: 0; }
.reasons li { display: grid; grid-template-columns: 4.3rem minmax(0, 1fr); gap: .1rem 0; margin: 0; padding: .25rem 0; }
.reasons li + li { margin: 0; }
.count { padding-right: .8rem; text-align: right; font-weight: 600; font-variant-numeric: tabular-nums; }
.reason { overflow-wrap: anywhere; }
.reasons svg { grid-column: 2; display: block; width: 100%; }
.figures details { margin-top: .3rem; }
.figures tbody th { border-top: 1px solid var(--line); font-weight: 400; }
.figures .table { max-height: 22rem; overflow: auto; margin-top: .4rem; }
.figures td, .figures tbody th { padding: .25rem .8rem; font-variant-numeric: tabular-nums; font-size: .92rem; }
@media (max-width: 36rem) { .minor { display: none; } .figures section { padding-inline: .7rem; } .plot, .reasons li { grid-template-columns: 3.7rem minmax(0, 1fr); } }
@media (forced-colors: active) { .sign { forced-color-adjust: none; } }
`;

const SPANS: readonly (readonly [Span, string])[] = [
  ['day', 'Last day'],
  ['month', 'Last month'],
];

const TrendsQuery = z.object({
  period: z
    .enum(['day', 'month'], {
      error: ({ input }) =>
        `The parameter 'period' is ${JSON.stringify(String(input).slice(0, 100))}; allowed are day, month.`,
    })
    .default('day'),
});

/** Shows operators the trends of the last day or month. */
export const operatorTrends = defineEndpoint({
  method: 'get',
  path: '/admin/trends',
  access: ADMINISTRATORS,
  query: TrendsQuery,
  handle: async ({ c, query }, { database }: { database: Database }) => {
    const { period: span } = query();
    const now = new Date();
    const [counts, sizes] = await Promise.all([countsOf(database, span, now), storageOf(database, now)]);
    const trends = trendsOf(span, { counts, sizes, now });
    const isEmpty = counts.length === 0 && sizes.every((size) => bytesOf(size) === 0);
    const content = html`${lead(span, now)}
${
  isEmpty
    ? html`<p>No statistics for this period yet. Workers count events after a few seconds and measure storage once an hour.</p>`
    : html`<div class="figures">
${figuresOf(trends).map(figureHtml)}</div>`
}`;
    return operatorPage(c, { title: 'Trends', content, style: TRENDS_STYLE, current: 'admin/trends' });
  },
});

function lead(span: Span, now: Date): Html {
  return html`<div class="lead"><p>Up to ${minuteOf(now)}. All times are UTC.</p>
<nav class="spans" aria-label="Period">${SPANS.map(
    ([name, text]) => html`<a href="?period=${name}"${name === span ? raw(' aria-current="page"') : ''}>${text}</a>`,
  )}</nav></div>`;
}
