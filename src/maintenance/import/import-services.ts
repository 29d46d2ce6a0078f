import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { CopyServices } from './copy-files.ts';
import type { ItemKind, KnownItem } from './import-items.queries.ts';

export interface ImportServices extends CopyServices {
  sourceId: number;
  database: Database;
  catalogs: Pick<Catalogs, 'event' | 'series'>;
  /** The minimum gap between two recordings of an agent, in milliseconds. */
  gapMs: number;
  /** True to overwrite what was changed here. */
  theirs: boolean;
  /** Called for each item that was deleted here, because it was deleted at the source. */
  onDeleted?: (kind: ItemKind, id: string) => void;
  /** Called once for each kind of items that the source does not list. */
  onWarning?: (message: string) => void;
}

/**
 * Returns why an item here must not be overwritten; undefined if it may be.
 *
 * @param here the version here; undefined if the item does not exist here
 */
export function skipReason(kind: ItemKind, here: string | undefined, { version }: KnownItem): string | undefined {
  if (version === (here ?? null)) return undefined;
  if (version === null) return `${STARTS[kind]} with this identifier exists here. Run with --theirs to overwrite it.`;
  return here === undefined
    ? 'It was deleted here since it was copied. Run with --theirs to copy it again.'
    : 'It was changed here since it was copied. Run with --theirs to overwrite it.';
}

const STARTS: Record<ItemKind, string> = {
  event: 'An event',
  series: 'A series',
  playlist: 'A playlist',
  group: 'A group',
};

/** The actor of changes in the log, and the creator of workflows; other than any usual user name. */
export const ACTOR = 'inlet import';
