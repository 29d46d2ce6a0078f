import { html, raw } from 'hono/html';
import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { bytesOf, countsOf, type Span, storageOf, trendsOf } from '#statistics/trends.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { minuteOf } from '../frame/words.ts';
import { figureHtml } from './chart.ts';
import {
  bytesFigure,
  failuresFigure,
  publishingFigure,
  storageFigure,
  uploadsFigure,
  waitingFigure,
} from './trend-figures.ts';
import { TRENDS_STYLE } from './trends-style.ts';

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

/** The page with the trends of the last day or month. */
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
    const figures = [
      uploadsFigure(trends),
      bytesFigure(trends),
      waitingFigure(trends),
      publishingFigure(trends),
      failuresFigure(trends),
      storageFigure(trends),
    ];
    const content = html`${lead(span, now)}
${
  isEmpty
    ? html`<p>Nothing has been counted yet in this time. Workers count what happens a few seconds after it, and measure what is stored once in an hour.</p>`
    : html`<div class="figures">
${figures.map(figureHtml)}</div>`
}`;
    return operatorPage(c, {
      title: 'How it goes',
      content,
      style: TRENDS_STYLE,
      current: 'admin/trends',
    });
  },
});

function lead(span: Span, now: Date): Html {
  return html`<div class="lead"><p>Until ${minuteOf(now)}. All times are UTC.</p>
<nav class="spans" aria-label="Time shown">${SPANS.map(
    ([name, text]) => html`<a href="?period=${name}"${name === span ? raw(' aria-current="page"') : ''}>${text}</a>`,
  )}</nav></div>`;
}
