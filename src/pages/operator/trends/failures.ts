import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { Trends } from '#statistics/trends.ts';
import { amountOf, type Figure } from './figure.ts';
import { placesOf } from './places.ts';
import { bars } from './plot.ts';
import { linearScale } from './scale.ts';

/** More of them are rare. */
const MOST_REASONS = 15;

/** Workflows that failed, and why. */
export function failuresFigure({ span, slots, total, reasons }: Trends): Figure {
  const values = slots.map(({ failed }) => failed);
  const scale = linearScale(Math.max(...values), 'count');
  const ended = total.succeeded + total.failed + total.stopped;
  const share = ended === 0 ? 0 : (100 * total.failed) / ended;
  const part = total.failed > 0 ? ` (${share < 0.1 ? '< 0.1' : share.toFixed(1)} %)` : '';
  const stopped =
    total.stopped > 0 ? `; ${total.stopped === 1 ? '1 was' : `${amountOf(total.stopped)} were`} stopped` : '';
  return {
    id: 'failures',
    heading: 'Failed',
    key: html`<p><strong${total.failed > 0 ? html` class="alarm"` : ''}>${amountOf(total.failed)}</strong> of ${amountOf(ended)} ${ended === 1 ? 'workflow' : 'workflows'} that ended${part}${stopped}</p>`,
    plot:
      total.failed === 0
        ? 'No workflow failed in this time.'
        : {
            description: `Bars: how many workflows failed, ${amountOf(Math.max(...values))} at most.`,
            places: placesOf(span, slots),
            words: slots.map(
              ({ succeeded, failed, stopped }) =>
                `${amountOf(failed)} failed, ${amountOf(succeeded)} succeeded, ${amountOf(stopped)} stopped`,
            ),
            ...{ scale, marks: bars([{ tone: 'failed', values }], scale) },
          },
    columns: ['Failed', 'Succeeded', 'Stopped'],
    rows: slots.map(({ failed, succeeded, stopped }) => [failed, succeeded, stopped].map(amountOf)),
    more: reasonsHtml(reasons),
  };
}

function reasonsHtml(reasons: Trends['reasons']): Html | '' {
  const most = Math.max(...reasons.map(({ count }) => count));
  const named = reasons.filter(({ reason }) => reason !== '').slice(0, MOST_REASONS);
  const rest = reasons.filter((each) => !named.includes(each)).reduce((sum, { count }) => sum + count, 0);
  const shown = rest > 0 ? [...named, { reason: '', count: rest }] : named;
  if (shown.length === 0) return '';
  return html`<h3>Why</h3>
<ol class="reasons">
${shown.map(
  ({ reason, count }) =>
    html`<li><span class="count">${amountOf(count)}</span><span class="reason">${reason === '' ? 'Other reasons' : html`<bdi>${reason}</bdi>`}</span><svg height="4" aria-hidden="true"><rect class="failed" width="${Number(((100 * Math.min(count, most)) / most).toFixed(2))}%" height="4"/></svg></li>
`,
)}</ol>`;
}
