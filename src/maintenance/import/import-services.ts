import type { Catalogs } from '#metadata/catalogs.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { CopyServices } from './copy-files.ts';

export interface ImportServices extends CopyServices {
  sourceId: number;
  database: Database;
  catalogs: Pick<Catalogs, 'event' | 'series'>;
  /** The minimum gap between two recordings of an agent, in milliseconds. */
  gapMs: number;
  /** True to overwrite what was changed here. */
  theirs: boolean;
}

/** An item as an earlier run has left it. */
export interface KnownItem {
  copied: string | null;
  version: string | null;
}

/** The actor of changes in the log. */
export const ACTOR = 'import';

/** The reason why an item is not copied again. */
export const DELETED_HERE = 'It was deleted here since it was copied. Run with --theirs to copy it again.';
