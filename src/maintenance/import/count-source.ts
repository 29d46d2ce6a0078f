import type { Catalogs } from '#metadata/catalogs.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { type CatalogueSource, type SourceChoice, SourceError } from './catalogue-source.ts';
import { planEvent, waitingReason } from './plan-event.ts';
import { planMetadata } from './plan-metadata.ts';
import type { SourceEvent } from './source.schemas.ts';

/** The content of a source. */
export interface SourceCount {
  series: number;
  events: number;
  /** Published files, without tracks, and their size in bytes as far as it is known. */
  files: number;
  bytes: number;
  /** Sentences about what cannot come along, with the number of items and an example of them. */
  notes: Map<string, { items: number; example: string }>;
}

/** Reads the lists of a source, and nothing else. */
export async function countSource(
  source: CatalogueSource,
  choice: Omit<SourceChoice, 'onUnreadable'>,
  catalogs: Pick<Catalogs, 'event' | 'series'>,
  onItem: (count: SourceCount) => void,
): Promise<SourceCount> {
  const count: SourceCount = { series: 0, events: 0, files: 0, bytes: 0, notes: new Map() };
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
    for (const each of notesOf(event, source.name, catalogs)) note(each, event.identifier);
    onItem(count);
  }
  return count;
}

function notesOf(event: SourceEvent, source: string, { event: set }: Pick<Catalogs, 'event'>): string[] {
  try {
    const waiting = waitingReason(event);
    const { notes } = planEvent(event, [], { catalogs: set, source, now: new Date() });
    return waiting === undefined ? notes : [waiting, ...notes];
  } catch (error) {
    if (error instanceof SourceError || error instanceof HttpError) return [error.message];
    throw error;
  }
}
