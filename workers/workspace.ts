import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { waitingForDatabase } from '../src/database/retry.ts';
import { watched } from '../src/media/output-watch.ts';
import { ObjectNotFound, type ObjectStorage, StorageRefused } from '../src/storage/port.ts';
import { putMeasured } from '../src/storage/put-measured.ts';
import type { StagingLedger } from '../src/storage/staging.ts';
import type { StagingExpired } from '../src/storage/staging-entries.ts';
import type { OperationContext, StoredFile } from './operation.ts';

/** The part of an operation's context that moves files between its folder and the object storage. */
export interface Workspace extends Pick<OperationContext, 'store' | 'open'> {
  /** Keys of all objects begun so far: to be committed with the operation's result, or discarded. */
  stagedKeys(): string[];
}

export interface WorkspaceOptions {
  /** Where objects are downloaded to that no tool can read in place. */
  folder: string;
  storage: ObjectStorage;
  staging: StagingLedger;
  signal: AbortSignal;
  /** Is told when what has been stored was swept: what the operation still does is in vain. */
  onLost?: (reason: StagingExpired) => void;
  /** Is told of each pause while a result waits for the storage or the database; without it, none waits. */
  onAway?: (error: unknown, againInMs: number) => void;
  /** Is told when that one waits no longer. */
  onBack?: () => void;
}

const READ_BYTES = 256 * 1024;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** The object storage, or a disk on the way to it, does not do its work; `cause` says how. */
export class StorageFault extends Error {
  override name = 'StorageFault';
  constructor(cause: unknown) {
    super('The object storage does not do its work.', { cause });
  }
}

export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { folder, storage, staging, signal, onLost, onAway, onBack } = options;
  const staged: string[] = [];
  const downloads = new Map<string, Promise<string>>();

  /** Of a storage that is well, that an object is not there is the answer, and none of its faults. */
  const orFault = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof StorageRefused) throw new StorageFault(error.cause);
      if (!(error instanceof ObjectNotFound)) throw new StorageFault(error);
      await storage.check(signal).catch((cause) => {
        throw new StorageFault(cause);
      });
      throw error;
    }
  };

  const storeOnce = async (
    path: string,
    mediatype: string,
    onWait: WorkspaceOptions['onAway'],
  ): Promise<StoredFile> => {
    signal.throwIfAborted();
    const expectedBytes = (await stat(path)).size;
    const stage = () => staging.stage('element', onLost);
    const objectKey = await (onWait ? waitingForDatabase({ signal, onWait }, stage) : stage());
    staged.push(objectKey);
    const file = createReadStream(path, { highWaterMark: READ_BYTES });
    try {
      const measured = await orFault(
        putMeasured(storage, objectKey, file, {
          mediatype,
          expectedBytes,
          signal,
          onDoubt: () => staging.doubt(objectKey),
        }),
      );
      return { objectKey, size: measured.size, sha256: measured.sha256 };
    } catch (error) {
      staged.splice(staged.indexOf(objectKey), 1);
      await staging.discard([objectKey]);
      throw error;
    }
  };

  /** A result that has taken hours to make waits for a storage or a database that is away, for as long as that takes. */
  const store = async (path: string, mediatype: string): Promise<StoredFile> => {
    let waited = false;
    const onWait: WorkspaceOptions['onAway'] =
      onAway &&
      ((error, againInMs) => {
        waited = true;
        onAway(error, againInMs);
      });
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          return await storeOnce(path, mediatype, onWait);
        } catch (error) {
          if (!onWait || signal.aborted || !(error instanceof StorageFault)) throw error;
          const againInMs = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS);
          onWait(error, againInMs);
          await delay(againInMs, undefined, { signal }).catch(() => {
            throw signal.reason;
          });
        }
      }
    } finally {
      if (waited) onBack?.();
    }
  };

  const download = async (objectKey: string): Promise<string> => {
    const path = join(folder, `source-${basename(objectKey)}`);
    const fetch = async (until: AbortSignal) => {
      const body = await orFault(storage.get(objectKey, undefined, until));
      await orFault(pipeline(Readable.from(body), createWriteStream(path), { signal: until }));
    };
    try {
      await watched({ path, maxBytes: Number.POSITIVE_INFINITY }, signal, fetch);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return path;
  };

  const open = async (objectKey: string): Promise<string> => {
    signal.throwIfAborted();
    const inPlace = storage.localPath(objectKey);
    if (inPlace) {
      // A tool that finds nothing there would blame the file.
      await orFault(storage.size(objectKey));
      return inPlace;
    }
    const running = downloads.get(objectKey) ?? download(objectKey);
    downloads.set(objectKey, running);
    try {
      return await running;
    } catch (error) {
      downloads.delete(objectKey);
      throw error;
    }
  };

  return { store, open, stagedKeys: () => [...staged] };
}
