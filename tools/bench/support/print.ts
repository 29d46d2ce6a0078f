import { type Figure, reached, summary, type Table, type Unit } from './figures.ts';

const MB = 1e6;
const MIB = 2 ** 20;

const FORMATS: Record<Unit, (value: number) => string> = {
  rate: (value) => `${(value / MB).toFixed(0)} MB/s`,
  bytes: (value) => `${(value / MIB).toFixed(0)} MiB`,
  seconds: (value) => `${value.toFixed(2)} s`,
  ms: (value) => (value < 10_000 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(2)} s`),
  'fine ms': (value) => `${value.toFixed(1)} ms`,
  'per second': (value) => `${value.toFixed(value < 10 ? 1 : 0)}/s`,
  ratio: (value) => value.toFixed(2),
  count: (value) => value.toFixed(0),
};

/** The table as aligned text: the median of each figure, its range, and whether an aim is reached. */
export function tableText(table: Table): string {
  const { title, notes } = table;
  const cells = cellsOf(table);
  const widths = (cells[0] ?? []).map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, '', lines[0], rule, ...lines.slice(1), '', ...notes.map((note) => `  ${note}`)].join('\n');
}

/** The same to be pasted into a document. */
export function tableMarkdown(table: Table): string {
  const [columns = [], ...rows] = cellsOf(table);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, i) => (i === 0 ? '---' : '---:'));
  const notes = table.notes.map((note) => `- ${note}`);
  return [`**${table.title}**`, '', ...[columns, rule, ...rows].map(line), '', ...notes].join('\n');
}

/** The names of the columns, and the rows. */
function cellsOf({ rows }: Table): string[][] {
  const fullest = rows.toSorted((a, b) => Object.keys(b.figures).length - Object.keys(a.figures).length);
  const columns = [...new Set(fullest.flatMap(({ figures }) => Object.keys(figures)))];
  return [
    ['', ...columns],
    ...rows.map(({ label, figures }) => [label, ...columns.map((name) => figureText(figures[name]))]),
  ];
}

function figureText(figure: Figure | undefined): string {
  if (!figure) return '';
  const format = FORMATS[figure.unit];
  const { median, min, max } = summary(figure.samples);
  const range = figure.samples.length > 1 && max > min ? ` (${number(format(min))}-${number(format(max))})` : '';
  return `${format(median)}${range}${aimText(figure)}`;
}

function aimText(figure: Figure): string {
  const { aim, unit } = figure;
  if (!aim) return '';
  const text = 'atLeast' in aim ? `>= ${FORMATS[unit](aim.atLeast)}` : `<= ${FORMATS[unit](aim.atMost)}`;
  return ` [aim ${text}: ${reached(figure) ? 'met' : 'MISSED'}]`;
}

/** The range goes without the unit, which stands beside the median. */
function number(text: string): string {
  return text.split(/[ /]/, 1)[0] ?? text;
}
