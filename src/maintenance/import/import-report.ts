import type { Database } from '#platform/database/kysely.ts';
import { formatBytes } from '#platform/text/units.ts';
import { type ItemKind, type ItemState, importTotals, incompleteItems } from './import-items.queries.ts';

/** The outcome of an import, for people and programs. */
export interface ImportReport {
  source: string;
  /** The number of items by state. */
  series: Record<ItemState, number>;
  events: Record<ItemState, number>;
  playlists: Record<ItemState, number>;
  groups: Record<ItemState, number>;
  files: number;
  bytes: number;
  seconds: number;
  /** Items that are not here, or without some of their parts. */
  incomplete: {
    kind: ItemKind;
    id: string;
    title: string;
    state: ItemState;
    reason: string;
    /** Sentences about parts that could not come along. */
    notes: string[];
  }[];
}

/** Reads the report of a source. @param seconds the duration of the command */
export async function readReport(
  database: Database,
  { id, name }: { id: number; name: string },
  seconds: number,
): Promise<ImportReport> {
  const totals = await importTotals(database, id);
  const counted = (kind: ItemKind) => {
    const of = (state: ItemState) => totals.find((row) => row.kind === kind && row.state === state)?.items ?? 0;
    return { copied: of('copied'), failed: of('failed'), skipped: of('skipped'), pending: of('pending') };
  };
  const sum = (name: 'files' | 'bytes') => totals.reduce((all, row) => all + row[name], 0);
  const incomplete = (await incompleteItems(database, id)) as ImportReport['incomplete'];
  return {
    source: name,
    series: counted('series'),
    events: counted('event'),
    playlists: counted('playlist'),
    groups: counted('group'),
    files: sum('files'),
    bytes: sum('bytes'),
    seconds: Math.round(seconds),
    incomplete,
  };
}

/** True if everything is here, but for what was changed here. */
export function isComplete({ series, events, playlists, groups }: ImportReport): boolean {
  return [series, events, playlists, groups].every(({ failed, pending }) => failed + pending === 0);
}

/** Returns the lines of a report. */
export function reportLines(report: ImportReport): string[] {
  const { source, series, events, playlists, groups, files, bytes, seconds, incomplete } = report;
  const states = ({ copied, failed, skipped, pending }: Record<ItemState, number>) =>
    `${copied} copied, ${failed} failed, ${skipped} skipped, ${pending} pending`;
  const further = Object.entries({ Playlists: playlists, Groups: groups })
    .filter(([, counts]) => Object.values(counts).some(Boolean))
    .map(([name, counts]) => `${name}: ${states(counts)}`);
  const sentences = (item: ImportReport['incomplete'][number]) =>
    [item.reason, ...item.notes].filter(Boolean).join(' ');
  return [
    ...incomplete.map((item) => `${item.kind} ${item.id} (${item.title}): ${item.state}. ${sentences(item)}`),
    `Source: ${source}`,
    `Series: ${states(series)}`,
    `Events: ${states(events)}`,
    ...further,
    `Files:  ${files}, ${formatBytes(bytes)}, in ${seconds} s`,
  ];
}
