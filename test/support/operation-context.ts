import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Selectable } from 'kysely';
import type { Database } from '../../src/database/kysely.ts';
import type { PublicationElement } from '../../src/database/schema.ts';
import { detectMediaType } from '../../src/media/signature.ts';
import { FolderStorage } from '../../src/storage/folder.ts';
import { objectKey } from '../../src/storage/keys.ts';
import type { ObjectStorage } from '../../src/storage/port.ts';
import { StagingLedger } from '../../src/storage/staging.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import type { Operation } from '../../workers/operation.ts';
import { createWorkspace } from '../../workers/workspace.ts';
import { testTools } from './clips.ts';
import { createTestDatabase } from './database.ts';
import { insertEvent } from './publication.ts';

export interface PerformOptions {
  configuration?: Record<string, string>;
  signal?: AbortSignal;
  commandsDir?: string;
  maxUploadBytes?: number;
  /** Where its files are; of its own unless given. */
  folder?: string;
}

/** Runs single operations on real parts: a database, a folder as object storage, the tools. */
export interface OperationBench {
  database: Database;
  storage: ObjectStorage;
  /** A new event with these files as its tracks: flavor to path. */
  addEvent(tracks: Record<string, string>): Promise<string>;
  /** Gives an event one more file as a track. */
  addTrack(eventId: string, position: number, flavor: string, path: string): Promise<void>;
  /**
   * Runs an operation and commits its result as the runner does; what it stored is discarded when it fails.
   *
   * @returns the fractions it reported
   */
  perform(operation: Operation, eventId: string, options?: PerformOptions): Promise<number[]>;
  /** The event's publication elements by kind and position. */
  elementsOf(eventId: string): Promise<Selectable<PublicationElement>[]>;
  /** All bytes of a stored object. */
  bytesOf(objectKey: string): Promise<Buffer>;
  close(): Promise<void>;
}

export async function createOperationBench(): Promise<OperationBench> {
  const { database, close } = await createTestDatabase();
  const root = await mkdtemp(join(tmpdir(), 'inlet-operations-'));
  const storage = await new FolderStorage(join(root, 'objects')).open();
  const staging = new StagingLedger({ database, storage, owner: randomUUID(), log: silentLogger });
  const tools = await testTools();

  const addTrack = async (eventId: string, position: number, flavor: string, path: string) => {
    const bytes = await readFile(path);
    const key = objectKey('track');
    const mediatype = detectMediaType(bytes);
    await storage.put(key, Readable.from([bytes]), { mediatype });
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
        sha256: createHash('sha256').update(bytes).digest('hex'),
      })
      .execute();
  };

  return {
    database,
    storage,
    addTrack,
    async addEvent(tracks) {
      const eventId = await insertEvent(database);
      for (const [position, [flavor, path]] of Object.entries(tracks).entries()) {
        await addTrack(eventId, position, flavor, path);
      }
      return eventId;
    },
    async perform(
      operation,
      eventId,
      {
        configuration = {},
        signal = new AbortController().signal,
        commandsDir,
        maxUploadBytes = Number.POSITIVE_INFINITY,
        folder = join(root, randomUUID()),
      } = {},
    ) {
      await mkdir(folder, { recursive: true });
      const workspace = createWorkspace({ folder, storage, staging, signal });
      const fractions: number[] = [];
      try {
        const commit = await operation.run({
          ...workspace,
          eventId,
          workflowId: 1,
          configuration,
          database,
          storage,
          staging,
          tools,
          publicUrl: 'http://127.0.0.1:8080',
          commandsDir,
          maxUploadBytes,
          folder,
          signal,
          log: silentLogger,
          progress: (fraction) => fractions.push(fraction),
        });
        await database.transaction().execute(async (trx) => {
          await staging.commit(trx, workspace.stagedKeys());
          await commit(trx);
        });
        return fractions;
      } catch (error) {
        await staging.discard(workspace.stagedKeys());
        throw error;
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    elementsOf: (eventId) =>
      database
        .selectFrom('publication_elements')
        .selectAll()
        .where('event_id', '=', eventId)
        .orderBy('kind')
        .orderBy('position')
        .execute(),
    bytesOf: async (key) => Buffer.from(await new Response(await storage.get(key)).arrayBuffer()),
    async close() {
      staging.close();
      await storage.close();
      await close();
      await rm(root, { recursive: true });
    },
  };
}
