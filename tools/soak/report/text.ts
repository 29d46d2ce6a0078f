import type { SoakProcess } from '../world/process.ts';
import { handlesOf, type Vitals } from '../world/vitals.ts';
import type { WorldReport } from './world.ts';

/** Faults that are told of one finding. */
const SHOWN = 12;

/** What became of a world. */
export function describeWorld({ uploads, publication, faults, kills, findings }: WorldReport): string {
  const rows = Object.entries(uploads.byManner).map(([manner, { sent, accepted, longestAnswerMs }]) => [
    ...[manner, String(sent), String(accepted)],
    `${(longestAnswerMs / 1000).toFixed(1)} s`,
  ]);
  return [
    table(['sent', 'uploads', 'accepted', 'longest wait'], rows),
    '',
    `accepted: ${listed(uploads.states)}; others: ${listed(uploads.others) || 'none'}`,
    `from acceptance to publication: median ${publication.medianSeconds} s, longest ${publication.longestSeconds} s`,
    `killed: ${kills.planned} by plan, ${kills.byRecordings} by a recording`,
    '',
    table(
      ['fault', 'times'],
      Object.entries(faults).map(([kind, times]) => [kind, String(times)]),
    ),
    '',
    ...findings.flatMap(({ what, faults: why }) => [
      `${why.length === 0 ? 'holds ' : 'BROKEN'}  ${what}`,
      ...why.slice(0, SHOWN).map((fault) => `        ${fault}`),
      ...(why.length > SHOWN ? [`        and ${why.length - SHOWN} more`] : []),
    ]),
  ].join('\n');
}

/** How the processes were at first and are at the end. */
export function describeVitals(
  processes: readonly SoakProcess[],
  before: readonly Vitals[],
  after: readonly Vitals[],
): string {
  const rows = processes.map(({ name, starts, gaps }, i) => {
    const [then, now] = [before[i], after[i]];
    return [
      name,
      String(starts),
      `${then?.mib} -> ${now?.mib}`,
      `${then && handlesOf(then)} -> ${now && handlesOf(now)}`,
      `${percent(then)} -> ${percent(now)}`,
      String(gaps),
    ];
  });
  return table(['process', 'starts', 'MiB', 'open files', '% of a core at rest', 'gaps in the log'], rows);
}

function percent(vitals: Vitals | undefined): string {
  return String(Math.round((vitals?.load ?? 0) * 100));
}

export function listed(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, times]) => `${times} ${name}`)
    .join(', ');
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((text, i) => Math.max(text.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}
