import type { SoakProcess } from './process.ts';
import type { Upload } from './uploads.ts';
import type { Vitals } from './vitals.ts';

/** What became of the uploads, by how they were sent. */
export function describeUploads(uploads: readonly Upload[]): string {
  const manners = [...new Set(uploads.map(({ manner }) => manner))];
  const rows = manners.map((manner) => {
    const own = uploads.filter((upload) => upload.manner === manner);
    const statuses = [...new Set(own.map(({ status }) => status))].sort((a, b) => (a ?? 0) - (b ?? 0));
    return [
      manner,
      String(own.length),
      statuses
        .map((status) => `${status ?? 'none'}: ${own.filter((each) => each.status === status).length}`)
        .join(', '),
      `${(Math.max(...own.map(({ tookMs }) => tookMs)) / 1000).toFixed(1)} s`,
    ];
  });
  return table(['sent', 'uploads', 'answers', 'longest wait'], rows);
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
      `${then?.handles} -> ${now?.handles}`,
      `${percent(then)} -> ${percent(now)}`,
      String(gaps),
    ];
  });
  return table(['process', 'starts', 'MiB', 'open files', '% of a core at rest', 'gaps in the log'], rows);
}

function percent(vitals: Vitals | undefined): string {
  return String(Math.round((vitals?.load ?? 0) * 100));
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
