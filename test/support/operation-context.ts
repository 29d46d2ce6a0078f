import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { loadConfig, type OperationSettings } from '#platform/config/config.ts';
import { detectMediaType } from '#platform/media/media-type.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import type { Operation } from '#workers/operations/operation.ts';
import { Workspace } from '#workers/workspace.ts';
import { readAll, sha256, source } from './bytes.ts';
import { testTools } from './clips.ts';
import { createTestDatabase } from './database.ts';
import { insertEvent, tracksOf } from './publication.ts';

export interface PerformOptions {
  configuration?: Record<string, string>;
  workflowConfiguration?: Record<string, string>;
  workflowId?: number;
  signal?: AbortSignal;
  /** What the site sets of operations. */
  site?: Partial<OperationSettings>;
  /** Where its files are; of its own unless given. */
  folder?: string;
  /** Reads from it; by default, from the bench's folder in place. */
  storage?: ObjectStorage;
}

export type OperationBench = Awaited<ReturnType<typeof createOperationBench>>;

/** Runs single operations on real parts: a database, a folder as object storage, the tools. */
export async function createOperationBench() {
  const { database, close } = await createTestDatabase();
  const root = await mkdtemp(join(tmpdir(), 'inlet-operations-'));
  const storage = await new FolderStorage(join(root, 'objects')).open();
  const staging = new StagingLedger({ database, storage, owner: randomUUID(), log: silentLogger });
  const tools = await testTools();

  /** Gives an event one more file as a track. */
  const addTrack = async (eventId: string, position: number, flavor: string, path: string) => {
    const bytes = await readFile(path);
    const key = objectKey('track');
    const mediatype = detectMediaType(bytes);
    await storage.put(key, source(bytes), { mediatype });
    await database
      .insertInto('tracks')
      .values({
        id: randomUUID(),
        event_id: eventId,
        position,
        flavor,
        filename: basename(path),
        mediatype,
        object_key: key,
        size: bytes.length,
        sha256: sha256(bytes),
      })
      .execute();
  };

  return {
    database,
    storage,
    addTrack,
    /** A new event with these files as its tracks: flavor to path. */
    async addEvent(tracks: Record<string, string>): Promise<string> {
      const eventId = await insertEvent(database);
      for (const [position, [flavor, path]] of Object.entries(tracks).entries()) {
        await addTrack(eventId, position, flavor, path);
      }
      return eventId;
    },
    /**
     * Runs an operation and commits its result as the runner does; what it stored is discarded when it fails.
     *
     * @returns the fractions it reported
     */
    async perform(operation: Operation, eventId: string, options: PerformOptions = {}): Promise<number[]> {
      const { configuration = {}, workflowConfiguration = {}, workflowId = 1 } = options;
      const { signal = new AbortController().signal, site = {} } = options;
      const { folder = join(root, randomUUID()) } = options;
      await mkdir(folder, { recursive: true });
      const source = options.storage ?? storage;
      const workspace = new Workspace({ folder, storage: source, staging, signal, log: silentLogger });
      const fractions: number[] = [];
      try {
        const commit = await operation.run({
          eventId,
          operationId: 0,
          workflowId,
          configuration,
          workflowConfiguration,
          database,
          tools,
          site: { ...loadConfig({}).operations, ...site },
          folder,
          signal: workspace.signal,
          log: silentLogger,
          progress: (fraction) => fractions.push(fraction),
          store: workspace.store,
          open: workspace.open,
          locate: workspace.locate,
        });
        await database.transaction().execute(async (trx) => {
          await workspace.commit(trx);
          await commit(trx);
        });
        workspace.keep();
        return fractions;
      } catch (error) {
        throw await workspace.causeOf(error);
      } finally {
        await workspace.close();
      }
    },
    /** The event's publication elements by kind and position. */
    elementsOf: (eventId: string) =>
      database
        .selectFrom('publication_elements')
        .selectAll()
        .where('event_id', '=', eventId)
        .orderBy('kind')
        .orderBy('position')
        .execute(),
    tracksOf: (eventId: string) => tracksOf(database, eventId),
    bytesOf: async (key: string) => readAll(await storage.get(key)),
    async close() {
      staging.close();
      await storage.close();
      await close();
      await rm(root, { recursive: true });
    },
  };
}
