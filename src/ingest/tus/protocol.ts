import { DataStore, type Locker, Server, Upload as TusUpload } from '@tus/server';
import { inOurWords } from './tus-refusals.ts';

/** What the protocol needs to be done for one request. Errors are thrown and reach the caller of `answer`. */
export interface Deeds {
  /** Says where a new upload is. */
  address(id: string): string;
  /** How large one may be, in bytes. */
  maxBytes: number;
  create(id: string, asked: Asked): Promise<void>;
  find(id: string): Promise<Found>;
  /** Receives the body of the request. @returns how many bytes are durable then */
  receive(id: string): Promise<number>;
  declareLength(id: string, length: number): Promise<void>;
  remove(id: string): Promise<void>;
  lock(id: string): Promise<() => Promise<void>>;
}

/** `Upload-Metadata`, decoded; null for a name without a value. */
export type Metadata = Readonly<Record<string, string | null>>;

/** What is asked of a new upload. */
export interface Asked {
  /** In bytes; undefined while nobody knows. */
  length: number | undefined;
  metadata: Metadata;
}

/** An upload as the protocol knows it. */
export interface Found {
  length: number | undefined;
  offset: number;
}

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'termination',
  'expiration',
  'checksum',
];

/**
 * tus 1.0.0 by its own library, which decides what a request means and what is answered. The bytes go past it: it is
 * given a request without a body, since it would put three streams in their way.
 *
 * @param newId what an upload is to be called that the request makes
 * @throws whatever a deed has thrown
 * @throws {HttpError} what the protocol forbids
 */
export async function answerTus(request: Request, newId: string, deeds: Deeds): Promise<Response> {
  let thrown: { error: unknown } | undefined;
  const server = new Server({
    path: '/',
    datastore: new Store(deeds),
    locker: lockerOf(deeds),
    maxSize: deeds.maxBytes,
    namingFunction: () => newId,
    generateUrl: (_request, { id }) => deeds.address(id),
    // The layers of every endpoint see to it.
    allowedOrigins: [],
    onResponseError: (_request, error) => {
      thrown = { error: error instanceof Error ? error : inOurWords(error) };
      return undefined;
    },
  });
  const { method, url, headers } = request;
  const response = await server.handleWeb(new Request(url, { method, headers }));
  if (thrown) throw thrown.error;
  return response;
}

class Store extends DataStore {
  override extensions = EXTENSIONS;
  readonly #deeds: Deeds;

  constructor(deeds: Deeds) {
    super();
    this.#deeds = deeds;
  }

  override async create(upload: TusUpload): Promise<TusUpload> {
    await this.#deeds.create(upload.id, { length: upload.size, metadata: upload.metadata ?? {} });
    return upload;
  }

  override async getUpload(id: string): Promise<TusUpload> {
    const { length, offset } = await this.#deeds.find(id);
    return new TusUpload({ id, offset, ...(length !== undefined && { size: length }) });
  }

  override write(_stream: unknown, id: string): Promise<number> {
    return this.#deeds.receive(id);
  }

  override declareUploadLength(id: string, length: number): Promise<void> {
    return this.#deeds.declareLength(id, length);
  }

  override remove(id: string): Promise<void> {
    return this.#deeds.remove(id);
  }
}

function lockerOf({ lock }: Deeds): Locker {
  return {
    newLock: (id) => {
      let release: (() => Promise<void>) | undefined;
      return {
        lock: async () => {
          release = await lock(id);
        },
        unlock: async () => release?.(),
      };
    },
  };
}
