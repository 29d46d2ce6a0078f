import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import { bytesOf, type Lengths, type Slot, type Span, type Trends } from '#statistics/trends.ts';
import { amountOf, minuteOf, recordingsText, sizeOf, spanOf } from '../frame/format-units.ts';
import {
  bars,
  type Figure,
  lengthScale,
  line,
  linearScale,
  NOTHING,
  type Place,
  type Plot,
  type Series,
  sign,
} from './chart.ts';

/** Returns the figures of the page. */
export function figuresOf(trends: Trends): Figure[] {
  return [
    uploadsFigure(trends),
    bytesFigure(trends),
    lengthsFigure(trends, 'waiting', {
      heading: 'Waiting for a worker',
      thing: 'operation',
      things: 'operations',
      none: 'No operation started in this period.',
      note: 'Time from an operation being ready to a worker starting it.',
    }),
    lengthsFigure(trends, 'publishing', {
      heading: 'Time to publication',
      thing: 'publication',
      things: 'publications',
      none: 'Nothing published in this period.',
      note: 'Time from the start of the workflow to the publication, including pauses.',
    }),
    failuresFigure(trends),
    storageFigure(trends),
  ];
}

/** The number of uploaded recordings. */
function uploadsFigure({ span, slots, total }: Trends): Figure {
  const values = slots.map(({ uploads }) => uploads);
  const plot = barPlot({ span, slots }, [{ tone: 'usual', values }], 'count', {
    description: `Bars: uploaded recordings, ${amountOf(Math.max(...values))} at most.`,
    words: values.map(recordingsText),
  });
  return {
    id: 'uploads',
    heading: 'Uploads',
    key: html`<p><strong>${amountOf(total.uploads)}</strong> ${total.uploads === 1 ? 'recording' : 'recordings'}</p>`,
    plot: total.uploads === 0 ? 'No uploads in this period.' : plot,
    columns: ['Recordings'],
    rows: values.map((count) => [amountOf(count)]),
  };
}

/** The bytes of uploaded recordings. */
function bytesFigure({ span, slots, total }: Trends): Figure {
  const values = slots.map(({ bytes }) => bytes);
  const words = values.map(sizeOf);
  const plot = barPlot({ span, slots }, [{ tone: 'usual', values }], 'bytes', {
    description: `Bars: bytes received, ${sizeOf(Math.max(...values))} at most.`,
    words,
  });
  return {
    id: 'received',
    heading: 'Received',
    key: html`<p><strong>${sizeOf(total.bytes)}</strong>${total.uploads > 0 ? ` ${sizeOf(Math.round(total.bytes / total.uploads))} per recording on average` : ''}</p>`,
    plot: total.bytes === 0 ? 'Nothing received in this period.' : plot,
    columns: ['Size'],
    rows: words.map((size) => [size]),
  };
}

/** A plot with stacked bars. */
function barPlot(
  { span, slots }: Pick<Trends, 'span' | 'slots'>,
  kinds: readonly Series[],
  unit: Parameters<typeof linearScale>[1],
  texts: Pick<Plot, 'description' | 'words'>,
): Plot {
  const sums = slots.map((_, i) => kinds.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const scale = linearScale(Math.max(0, ...sums), unit);
  return { ...texts, places: placesOf(span, slots), scale, marks: bars(kinds, scale) };
}

/** The stored bytes by kind. */
function storageFigure({ span, slots, stored, growth }: Trends): Figure {
  const sizes = slots.map(({ storage }) => storage);
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
<p>${sign('received')}${sizeOf(stored.received)} received</p> <p>${sign('processed')}${sizeOf(stored.processed)} from processing</p> <p>${sign('unfinished')}${sizeOf(stored.unfinished)} not in an event</p>`
      : '',
    plot: cells.some((each) => each !== undefined)
      ? barPlot({ span, slots }, kinds, 'bytes', {
          description: `Bars: bytes stored, ${sizeOf(stored ? bytesOf(stored) : 0)} at the end.`,
          words: cells.map((each) =>
            each
              ? `${each[0]}: ${each[1]} received, ${each[2]} from processing, ${each[3]} not in an event`
              : 'not measured',
          ),
        })
      : 'Not measured in this period.',
    columns: ['All', 'Received', 'From processing', 'Not in an event'],
    rows: cells.map((each) => each ?? [NOTHING, NOTHING, NOTHING, NOTHING]),
  };
}

const DAYS: Readonly<Record<number, string>> = { 1: 'a day', 7: 'a week', 30: '30 days' };

/** The texts about durations. */
interface LengthsTexts {
  heading: string;
  /** The noun for what is measured, and its plural. */
  thing: string;
  things: string;
  none: string;
  note: string;
}

/** The durations of a kind: their median and their 95th percentile. */
function lengthsFigure(
  { span, slots, total }: Trends,
  kind: 'waiting' | 'publishing',
  { heading, thing, things, none, note }: LengthsTexts,
): Figure {
  const all = slots.map((slot) => slot[kind]);
  const known = all.flatMap((lengths) => (lengths ? [lengths.median, lengths.p95] : []));
  const describe = ({ count, median, p95 }: Lengths) =>
    `median ${spanOf(median)}, 95th percentile ${spanOf(p95)}, ${amountOf(count)} ${count === 1 ? thing : things}`;
  return {
    id: kind,
    heading,
    key: lengthsKey(total[kind], things),
    plot:
      known.length === 0
        ? none
        : {
            ...lengthsPlot(all, known),
            places: placesOf(span, slots),
            words: all.map((lengths) => (lengths ? describe(lengths) : none)),
          },
    columns: ['Median', '95th percentile', `${things[0]?.toUpperCase()}${things.slice(1)}`],
    rows: all.map((lengths) =>
      lengths ? [spanOf(lengths.median), spanOf(lengths.p95), amountOf(lengths.count)] : [NOTHING, NOTHING, '0'],
    ),
    more: html`<p class="note">${note} Accurate to 10 %.</p>`,
  };
}

function lengthsKey(lengths: Lengths | undefined, things: string): Html {
  if (!lengths) return html`<p><strong>0</strong> ${things}</p>`;
  return html`<p>${sign('median')}<strong>${spanOf(lengths.median)}</strong> median</p> <p>${sign('p95')}<strong>${spanOf(lengths.p95)}</strong> 95th percentile</p>`;
}

function lengthsPlot(
  all: readonly (Lengths | undefined)[],
  known: readonly number[],
): Pick<Plot, 'description' | 'scale' | 'marks'> {
  const scale = lengthScale(known);
  const marks = (['p95', 'median'] as const).map((tone) =>
    line({ tone, values: all.map((lengths) => lengths?.[tone]) }, scale),
  );
  const kind = scale.isLogarithmic ? 'Lines on a logarithmic scale' : 'Lines';
  const description = `${kind}: the median and the 95th percentile, ${spanOf(Math.max(...known))} at most.`;
  return { description, scale, marks };
}

const MOST_REASONS = 15;

/** The failed workflows by reason. */
function failuresFigure({ span, slots, total, reasons }: Trends): Figure {
  const values = slots.map(({ failed }) => failed);
  const finished = total.succeeded + total.failed + total.stopped;
  const share = finished === 0 ? 0 : (100 * total.failed) / finished;
  const part = total.failed > 0 ? ` (${share < 0.1 ? '< 0.1' : share.toFixed(1)} %)` : '';
  const stopped = total.stopped > 0 ? `; ${amountOf(total.stopped)} stopped` : '';
  return {
    id: 'failures',
    heading: 'Failed',
    key: html`<p><strong${total.failed > 0 ? html` class="alarm"` : ''}>${amountOf(total.failed)}</strong> of ${amountOf(finished)} finished ${finished === 1 ? 'workflow' : 'workflows'}${part}${stopped}</p>`,
    plot:
      total.failed === 0
        ? 'No workflow failed in this period.'
        : barPlot({ span, slots }, [{ tone: 'failed', values }], 'count', {
            description: `Bars: failed workflows, ${amountOf(Math.max(...values))} at most.`,
            words: slots.map(
              ({ succeeded, failed, stopped }) =>
                `${amountOf(failed)} failed, ${amountOf(succeeded)} succeeded, ${amountOf(stopped)} stopped`,
            ),
          }),
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
  return html`<h3>Reasons</h3>
<ol class="reasons">
${shown.map(
  ({ reason, count }) =>
    html`<li><span class="count">${amountOf(count)}</span><span class="reason">${reason === '' ? 'Other reasons' : html`<bdi>${reason}</bdi>`}</span><svg height="4" aria-hidden="true"><rect class="failed" width="${Number(((100 * Math.min(count, most)) / most).toFixed(2))}%" height="4"/></svg></li>
`,
)}</ol>`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONDAY = 1;

/** Returns the hours of a day or the days of a month, with the labels below a plot. */
function placesOf(span: Span, slots: readonly Slot[]): Place[] {
  return slots.map(({ start }) => {
    const [date = '', time = ''] = minuteOf(start).split(' ');
    if (span === 'month') {
      const tick = start.getUTCDay() === MONDAY ? DAY.format(start) : undefined;
      return { name: date, tick, isMinor: false };
    }
    const hour = start.getUTCHours();
    return {
      name: `${date} ${time}`,
      tick: hour % 3 === 0 ? time : undefined,
      isMinor: hour % 6 !== 0,
    };
  });
}
