import type { Catalogs } from '#metadata/catalogs.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import {
  type CatalogueSource,
  isPartial,
  ListUnavailable,
  type SourceChoice,
  SourceError,
} from './catalogue-source.ts';
import { planGroup } from './copy-group.ts';
import { planPlaylist } from './copy-playlist.ts';
import { planEvent, waitingReason } from './plan-event.ts';
import { planMetadata } from './plan-metadata.ts';
import type { SourceEvent } from './source.schemas.ts';

/** The content of a source. */
export interface SourceCount {
  series: number;
  events: number;
  playlists: number;
  /** All groups of the source, whether they are to be copied or not. */
  groups: number;
  /** Published files, without tracks, and their size in bytes as far as it is known. */
  files: number;
  bytes: number;
  /** Sentences about what cannot come along, with the number of items and an example of them. */
  notes: Map<string, { items: number; example: string }>;
  /** Sentences about kinds of items that the source does not list. */
  warnings: string[];
}

/** Reads the lists of a source, and nothing else. */
export async function countSource(
  source: CatalogueSource,
  choice: Omit<SourceChoice, 'onUnreadable'> & { groups: boolean },
  catalogs: Pick<Catalogs, 'event' | 'series'>,
  onItem: (count: SourceCount) => void,
): Promise<SourceCount> {
  const numbers = { series: 0, events: 0, playlists: 0, groups: 0, files: 0, bytes: 0 };
  const count: SourceCount = { ...numbers, notes: new Map(), warnings: [] };
  const note = (sentence: string, example: string) => {
    const known = count.notes.get(sentence);
    if (known) known.items += 1;
    else count.notes.set(sentence, { items: 1, example });
  };
  const range = { ...choice, onUnreadable: (id: string, reason: string) => note(reason, id) };
  for await (const { identifier, metadata } of source.series(range)) {
    count.series += 1;
    for (const each of planMetadata(metadata, catalogs.series).notes) note(each, identifier);
    onItem(count);
  }
  for await (const event of source.events(range)) {
    count.events += 1;
    const elements = event.publications.flatMap(({ media, attachments, metadata }) =>
      [media, attachments, metadata].flat(),
    );
    count.files += elements.length;
    count.bytes += elements.reduce((sum, { size }) => sum + Math.max(0, size ?? 0), 0);
    for (const each of faultsOf(() => notesOf(event, source.name, catalogs))) note(each, event.identifier);
    onItem(count);
  }
  if (isPartial(choice)) return count;
  const countAll = async <T extends { identifier: string }>(
    name: 'playlists' | 'groups',
    items: AsyncIterable<T>,
    plan: (item: T) => unknown,
  ) => {
    try {
      for await (const item of items) {
        count[name] += 1;
        for (const each of faultsOf(() => void plan(item))) note(each, item.identifier);
        onItem(count);
      }
    } catch (error) {
      if (!(error instanceof ListUnavailable)) throw error;
      if (name !== 'groups' || choice.groups) count.warnings.push(error.message);
    }
  };
  await countAll('playlists', source.playlists(range), planPlaylist);
  await countAll('groups', source.groups(range), (group) => choice.groups && planGroup(group));
  return count;
}

function notesOf(event: SourceEvent, source: string, { event: set }: Pick<Catalogs, 'event'>): string[] {
  const waiting = waitingReason(event);
  const { notes } = planEvent(event, [], { catalogs: set, source, now: new Date() });
  return waiting === undefined ? notes : [waiting, ...notes];
}

/** Returns the notes of a plan, or why an item cannot be copied. */
function faultsOf(plan: () => string[] | undefined): string[] {
  try {
    return plan() ?? [];
  } catch (error) {
    if (error instanceof SourceError || error instanceof HttpError) return [error.message];
    throw error;
  }
}
