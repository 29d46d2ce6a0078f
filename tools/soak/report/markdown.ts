import { listed } from './text.ts';
import type { WorldReport } from './world.ts';

const HEAD = [
  'world',
  'minutes',
  'accepted',
  'result',
  'faults',
  'kills among them',
  'kills by a recording',
  'to publication: median, longest',
  'clean',
];

/** The table of docs/measurements.md. */
export function markdownOf(reports: readonly WorldReport[]): string {
  const rows = reports.map(({ world, minutes, uploads, faults, kills, publication, clean }) => [
    ...[world, String(Math.round(minutes * 10) / 10), `${uploads.accepted} of ${uploads.sent}`],
    ...[listed(uploads.states), String(Object.values(faults).reduce((sum, times) => sum + times, 0))],
    ...[String(kills.planned), String(kills.byRecordings)],
    ...[`${publication.medianSeconds} s, ${publication.longestSeconds} s`, clean ? 'yes' : 'NO'],
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(HEAD), line(HEAD.map(() => '---')), ...rows.map(line)].join('\n');
}
