import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { type Plot, plotHtml } from './plot.ts';

/** Where there is no figure. */
export const NOTHING = '–';

/** One of the things that are told of how it went. */
export interface Figure {
  /** Names it among the others of the page. */
  id: string;
  heading: string;
  /** What it comes to, above the plot. */
  key: Html | string;
  /** Absent when there is nothing to see; then it is said why. */
  plot: Plot | string;
  /** What the columns of the same figures are called. */
  columns: readonly string[];
  /** The figures of each place. */
  rows: readonly (readonly string[])[];
  /** What is to be known of it. */
  more?: Html | string;
}

/** A figure with its plot, and the same as a table. */
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

/** What a colour stands for. */
export function sign(tone: string): Html {
  return html`<span class="sign ${tone}" aria-hidden="true"></span>`;
}

/** A number for people: `1,234`. */
export function amountOf(count: number): string {
  return count.toLocaleString('en');
}
