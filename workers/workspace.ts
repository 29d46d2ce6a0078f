import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { retryWhileDown } from '#platform/database/retry.ts';
import { watched } from '#platform/media/tools/output-watch.ts';
import { ObjectNotFound, type ObjectStorage, StorageRefused } from '#platform/storage/object-storage.ts';
import { putFile } from '#platform/storage/put-measured.ts';
import { RangeReader } from '#platform/storage/range-reader.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { StagingExpired } from '#platform/storage/staging-sweep.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { OperationContext, StoredFile } from './operations/operation.ts';

/** The object storage, or a disk in between, has failed; `cause` is the error. */
export class StorageFault extends Error {
  override name = 'StorageFault';
  constructor(cause: unknown) {
    super('The object storage has failed.', { cause });
  }
}

/** The working folder of an operation was removed while it ran. */
class WorkFolderGone extends Error {
  override name = 'WorkFolderGone';
  readonly ours = true;
  constructor(cause: unknown) {
    super('The working folder of the operation was removed.', { cause });
  }
}

export interface WorkspaceOptions {
  folder: string;
  storage: ObjectStorage;
  staging: StagingLedger;
  signal: AbortSignal;
  log: Logger;
  /** Called when staged objects were swept, so that the operation can only fail. */
  onLost?: (reason: StagingExpired) => void;
  /** Called before each pause while a result waits for the storage or the database. Without it, results do not wait. */
  onOutage?: (error: unknown, againInMs: number) => void;
  /** Called when the wait is over. */
  onRecovered?: () => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Several of these fit into `ABANDONED_MS`. */
const TOUCH_MS = 15_000;

/** The folder of an operation and the objects that it stores. */
export class Workspace implements Pick<OperationContext, 'folder' | 'signal' | 'store' | 'open' | 'locate'> {
  readonly folder: string;
  /** Aborts with the signal of the options, or when the storage fails while a tool reads from it. */
  readonly signal: AbortSignal;
  readonly #options: WorkspaceOptions;
  readonly #touches: NodeJS.Timeout;
  readonly #staged: string[] = [];
  readonly #downloads = new Map<string, Promise<string>>();
  readonly #fault = new AbortController();
  readonly #reader: RangeReader;

  /** @param options.folder an empty folder, removed with the workspace */
  constructor(options: WorkspaceOptions) {
    this.#options = options;
    this.folder = options.folder;
    this.signal = AbortSignal.any([options.signal, this.#fault.signal]);
    this.#reader = new RangeReader({
      storage: options.storage,
      signal: this.signal,
      // Tools take a broken connection for the end of the file, and succeed.
      onFault: (error) => this.#orFault(Promise.reject(error)).catch((fault) => this.#fault.abort(fault)),
    });
    this.#touches = setInterval(() => void touchWorkFolder(this.folder), TOUCH_MS);
    this.#touches.unref();
  }

  /** Stores a file. Waits while the storage or the database is away, because a result may have taken hours. */
  readonly store = async (path: string, mediatype: string): Promise<StoredFile> => {
    const { signal } = this;
    const { onOutage, onRecovered } = this.#options;
    let hasWaited = false;
    const onWait = (error: unknown, againInMs: number) => {
      hasWaited = true;
      onOutage?.(error, againInMs);
    };
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          return await this.#storeOnce(path, mediatype, onOutage && onWait);
        } catch (error) {
          if (!onOutage || signal.aborted || !(error instanceof StorageFault)) throw error;
          const againInMs = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS);
          onWait(error, againInMs);
          await delay(againInMs, undefined, { signal }).catch(() => {
            throw signal.reason;
          });
        }
      }
    } finally {
      if (hasWaited) onRecovered?.();
    }
  };

  /** Returns a path at which tools can read a stored object. */
  readonly open = async (objectKey: string): Promise<string> => {
    const inPlace = await this.#inPlace(objectKey);
    if (inPlace) return inPlace;
    const running = this.#downloads.get(objectKey) ?? this.#download(objectKey);
    this.#downloads.set(objectKey, running);
    try {
      return await running;
    } catch (error) {
      this.#downloads.delete(objectKey);
      throw error;
    }
  };

  /** Returns a path or an address at which tools can read parts of a stored object without a download. */
  readonly locate = async (objectKey: string): Promise<string> =>
    (await this.#inPlace(objectKey)) ??
    this.#downloads.get(objectKey) ??
    this.#orFault(this.#reader.address(objectKey));

  /** The bytes that the storage has sent to tools through addresses. */
  get bytesRead(): number {
    return this.#reader.bytesRead;
  }

  /**
   * Removes the objects from the staging ledger, in the transaction that writes rows for them. @throws {StagingExpired}
   */
  async commit(trx: Transaction): Promise<void> {
    this.#fault.signal.throwIfAborted();
    await this.#options.staging.commit(trx, this.#staged);
  }

  /** Keeps the committed objects when the workspace closes. */
  keep(): void {
    this.#staged.length = 0;
  }

  /**
   * Returns the cause of an error: if the storage has failed while a tool read from it, or the folder is gone, the error
   * says nothing about the recording.
   */
  async causeOf(error: unknown): Promise<unknown> {
    if (this.#fault.signal.aborted) return this.#fault.signal.reason;
    return stat(this.folder).then(
      () => error,
      (missing) => (missing.code === 'ENOENT' ? new WorkFolderGone(error) : error),
    );
  }

  /** Removes the folder and the objects that were not kept, and forgets all addresses. */
  async close(): Promise<void> {
    const { staging, log } = this.#options;
    clearInterval(this.#touches);
    await this.#reader.close();
    await staging.discard(this.#staged);
    await rm(this.folder, REMOVAL).catch((error) =>
      log.warn({ err: error }, 'the working folder could not be removed'),
    );
  }

  async #storeOnce(path: string, mediatype: string, onWait: WorkspaceOptions['onOutage']): Promise<StoredFile> {
    const { signal } = this;
    const { storage, staging, onLost } = this.#options;
    signal.throwIfAborted();
    const expectedBytes = (await stat(path)).size;
    const stage = () => staging.stage('element', onLost);
    const objectKey = await (onWait ? retryWhileDown({ signal, onWait }, stage) : stage());
    this.#staged.push(objectKey);
    const onDoubt = () => staging.doubt(objectKey);
    try {
      const options = { mediatype, expectedBytes, signal, onDoubt };
      return { objectKey, ...(await this.#orFault(putFile(storage, objectKey, path, options))) };
    } catch (error) {
      this.#staged.splice(this.#staged.indexOf(objectKey), 1);
      await staging.discard([objectKey]);
      throw error;
    }
  }

  async #inPlace(objectKey: string): Promise<string | undefined> {
    const { storage } = this.#options;
    this.signal.throwIfAborted();
    const path = storage.localPath(objectKey);
    // A tool that finds no file would blame the recording.
    if (path) await this.#orFault(storage.size(objectKey));
    return path;
  }

  async #download(objectKey: string): Promise<string> {
    const { signal } = this;
    const { storage } = this.#options;
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

  /** Wraps errors of the storage in StorageFault. A missing object is none while the storage works. */
  async #orFault<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    const { storage } = this.#options;
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

const REMOVAL = { recursive: true, force: true };

export async function createWorkFolder(workDir: string, operationId: number): Promise<string> {
  await mkdir(workDir, { recursive: true });
  return mkdtemp(join(workDir, `${operationId}-`));
}

/** Marks the folder as in use. */
export async function touchWorkFolder(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}

const ABANDONED_MS = 120_000;

/**
 * Removes folders that killed workers left behind. A folder of a running operation stays however old it looks: clocks
 * may be changed.
 */
export async function removeAbandonedFolders(database: Database, workDir: string): Promise<void> {
  const names = await unusedFolders(workDir);
  if (names.length === 0) return;
  const running = await database
    .selectFrom('workflow_operations')
    .select('id')
    .where('state', '=', 'running')
    .where('id', 'in', names.map(operationOf))
    .execute();
  const inUse = new Set(running.map(({ id }) => id));
  for (const name of names) if (!inUse.has(operationOf(name))) await rm(join(workDir, name), REMOVAL);
}

async function unusedFolders(workDir: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of await readdir(workDir).catch(() => [])) {
    const modified = (await stat(join(workDir, name)).catch(() => undefined))?.mtimeMs;
    if (modified === undefined) continue;
    // A time in the future was set before the clock was put back.
    if (Math.abs(Date.now() - modified) > ABANDONED_MS) names.push(name);
  }
  return names;
}

/** Returns the operation of a folder, or 0 for a foreign folder. */
function operationOf(name: string): number {
  return Number(/^(\d{1,15})-/.exec(name)?.[1] ?? 0);
}
