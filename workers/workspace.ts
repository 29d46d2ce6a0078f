import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '#platform/database/kysely.ts';
import { waitingForDatabase } from '#platform/database/retry.ts';
import { watched } from '#platform/media/tools/output-watch.ts';
import { ObjectNotFound, type ObjectStorage, StorageRefused } from '#platform/storage/port.ts';
import { putMeasured } from '#platform/storage/put-measured.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { StagingExpired } from '#platform/storage/staging-entries.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { OperationContext, StoredFile } from './operations/operation.ts';

/** The object storage, or a disk on the way to it, does not do its work; `cause` says how. */
export class StorageFault extends Error {
  override name = 'StorageFault';
  constructor(cause: unknown) {
    super('The object storage does not do its work.', { cause });
  }
}

/** The folder of an operation was removed while it ran. */
export class WorkFolderGone extends Error {
  override name = 'WorkFolderGone';
  readonly ours = true;
  constructor(cause: unknown) {
    super('The working folder of the operation was removed.', { cause });
  }
}

export interface WorkspaceOptions {
  /** Where operations get their folders. */
  folder: string;
  storage: ObjectStorage;
  staging: StagingLedger;
  signal: AbortSignal;
  log: Logger;
  /** Called when what has been stored was swept: what the operation still does is in vain. */
  onLost?: (reason: StagingExpired) => void;
  /** Called before each pause while a result waits for the storage or the database; without it, none waits. */
  onAway?: (error: unknown, againInMs: number) => void;
  /** Called when that one waits no longer. */
  onBack?: () => void;
}

const READ_BYTES = 256 * 1024;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Several times within the time after which a folder counts as abandoned. */
const TOUCH_MS = 15_000;

/** What an operation works in: its folder, and the objects that it stores. */
export class Workspace implements Pick<OperationContext, 'folder' | 'store' | 'open'> {
  readonly folder: string;
  readonly #options: WorkspaceOptions;
  readonly #touches: NodeJS.Timeout;
  /** Keys of the objects begun so far. */
  readonly #staged: string[] = [];
  readonly #downloads = new Map<string, Promise<string>>();

  /** @param options.folder an empty one, which goes with the workspace */
  constructor(options: WorkspaceOptions) {
    this.#options = options;
    this.folder = options.folder;
    this.#touches = setInterval(() => void touchWorkFolder(this.folder), TOUCH_MS);
    this.#touches.unref();
  }

  /** Opens a workspace in a new folder below `workDir`. */
  static async create(
    workDir: string,
    operationId: number,
    options: Omit<WorkspaceOptions, 'folder'>,
  ): Promise<Workspace> {
    return new Workspace({ ...options, folder: await createWorkFolder(workDir, operationId) });
  }

  /** Stores a file. A result that has taken hours to make waits for a storage or a database that is away. */
  readonly store = async (path: string, mediatype: string): Promise<StoredFile> => {
    const { signal, onAway, onBack } = this.#options;
    let hasWaited = false;
    const onWait = (error: unknown, againInMs: number) => {
      hasWaited = true;
      onAway?.(error, againInMs);
    };
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          return await this.#storeOnce(path, mediatype, onAway && onWait);
        } catch (error) {
          if (!onAway || signal.aborted || !(error instanceof StorageFault)) throw error;
          const againInMs = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS);
          onWait(error, againInMs);
          await delay(againInMs, undefined, { signal }).catch(() => {
            throw signal.reason;
          });
        }
      }
    } finally {
      if (hasWaited) onBack?.();
    }
  };

  /** Finds a path at which tools can read a stored object. */
  readonly open = async (objectKey: string): Promise<string> => {
    const { storage, signal } = this.#options;
    signal.throwIfAborted();
    const inPlace = storage.localPath(objectKey);
    if (inPlace) {
      // A tool that finds nothing there would blame the file.
      await this.#orFault(storage.size(objectKey));
      return inPlace;
    }
    const running = this.#downloads.get(objectKey) ?? this.#download(objectKey);
    this.#downloads.set(objectKey, running);
    try {
      return await running;
    } catch (error) {
      this.#downloads.delete(objectKey);
      throw error;
    }
  };

  /** Takes the objects off the ledger, in the transaction that writes the rows naming them. @throws {StagingExpired} */
  async commit(trx: Transaction): Promise<void> {
    await this.#options.staging.commit(trx, this.#staged);
  }

  /** Keeps the objects when the workspace closes: they are committed. */
  keep(): void {
    this.#staged.length = 0;
  }

  /** @returns what an operation failed for: an error about files that are gone says nothing about the recording */
  async reasonOf(error: unknown): Promise<unknown> {
    return stat(this.folder).then(
      () => error,
      (missing) => (missing.code === 'ENOENT' ? new WorkFolderGone(error) : error),
    );
  }

  /** Removes the objects that are not to be kept, and the folder. */
  async close(): Promise<void> {
    const { staging, log } = this.#options;
    clearInterval(this.#touches);
    await staging.discard(this.#staged);
    await removeWorkFolder(this.folder).catch((error) =>
      log.warn({ err: error }, 'could not remove the working folder'),
    );
  }

  async #storeOnce(path: string, mediatype: string, onWait: WorkspaceOptions['onAway']): Promise<StoredFile> {
    const { storage, staging, signal, onLost } = this.#options;
    signal.throwIfAborted();
    const expectedBytes = (await stat(path)).size;
    const stage = () => staging.stage('element', onLost);
    const objectKey = await (onWait ? waitingForDatabase({ signal, onWait }, stage) : stage());
    this.#staged.push(objectKey);
    const file = createReadStream(path, { highWaterMark: READ_BYTES });
    const onDoubt = () => staging.doubt(objectKey);
    try {
      const options = { mediatype, expectedBytes, signal, onDoubt };
      const { size, sha256 } = await this.#orFault(putMeasured(storage, objectKey, file, options));
      return { objectKey, size, sha256 };
    } catch (error) {
      this.#staged.splice(this.#staged.indexOf(objectKey), 1);
      await staging.discard([objectKey]);
      throw error;
    }
  }

  async #download(objectKey: string): Promise<string> {
    const { storage, signal } = this.#options;
    const path = join(this.folder, `source-${basename(objectKey)}`);
    const fetch = async (until: AbortSignal) => {
      const body = await this.#orFault(storage.get(objectKey, undefined, until));
      await this.#orFault(pipeline(Readable.from(body), createWriteStream(path), { signal: until }));
    };
    try {
      await watched({ path, maxBytes: Number.POSITIVE_INFINITY }, signal, fetch);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return path;
  }

  /** Tells faults of the storage from the answer of one that works: an object that does not exist. */
  async #orFault<T>(work: Promise<T>): Promise<T> {
    const { storage, signal } = this.#options;
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
  }
}

/** Makes an empty folder for one operation. */
export async function createWorkFolder(workDir: string, operationId: number): Promise<string> {
  await mkdir(workDir, { recursive: true });
  return mkdtemp(join(workDir, `${operationId}-`));
}

/** Shows that the folder is in use. */
export async function touchWorkFolder(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}

/** Removes the folder of an operation with what it holds. */
export async function removeWorkFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
