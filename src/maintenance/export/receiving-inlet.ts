import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { connect, parseTarget } from '#platform/outbound/connect.ts';
import { sendRequest } from '#platform/outbound/http-request.ts';
import { responseBody } from '#platform/outbound/response-body.ts';
import { ObjectNotFound } from '#platform/storage/object-storage.ts';
import { tryParseJson } from '#platform/text/json.ts';
import type { ObjectReader } from '../digests.ts';
import { SourceError, SourceUnusable } from '../import/catalogue-source.ts';
import { isRefused } from '../import/server-access.ts';
import { asFault, statusFault } from '../import/source-connection.ts';
import { type SourceRequests, TemporaryFault } from '../import/source-requests.ts';
import type { Item, ItemFile } from './load-items.ts';

export interface ReceiverOptions {
  /** Without a final slash and without credentials. */
  base: string;
  username: string;
  password: string;
  /** Identifier of this installation (`systemOf`). */
  system: string;
  /** True to overwrite what was changed there. */
  theirs: boolean;
  requests: SourceRequests;
  storage: Pick<ObjectReader, 'get'>;
  signal: AbortSignal;
  /** @param bytes of files that were sent */
  onBytes(bytes: number): void;
}

const Receipt = z.object({
  state: z.enum(['copied', 'skipped', 'failed', 'pending']),
  reason: z.string().default(''),
  /** Sentences about parts that could not come along. */
  notes: z.array(z.string()).default([]),
  /** The names of the files to send with the item. */
  missing: z.array(z.string()).optional(),
});
/** The outcome of one item. */
export type Receipt = z.infer<typeof Receipt>;

interface Form {
  headers: Record<string, string>;
  body: Readable;
}

const MAX_RECEIPT_BYTES = 2 ** 20;

/** Another Inlet that receives items. */
export class ReceivingInlet {
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Finds out whether items can be sent, and waits for outages from now on. @throws {SourceUnusable} */
  async open(): Promise<void> {
    const { base, system, requests, signal } = this.#options;
    const ask = () => this.#request('GET', '');
    const answer = await requests.json(`${base} cannot be used`, signal, ask).catch((error) => {
      if (!(error instanceof SourceError)) throw error;
      throw unusable(base, error);
    });
    const { data } = z.object({ system: z.string() }).safeParse(tryParseJson(answer));
    if (!data) throw new SourceUnusable(`${base} is not an Inlet. Check the URL.`);
    if (data.system === system)
      throw new SourceUnusable(`${base} is this Inlet itself, or was restored from a backup of it.`);
    requests.waitForOutages(ask);
  }

  /** Sends an item with some of its files. @throws {SourceError} if it is not accepted @throws {SourceUnusable} */
  async send(item: Item, files: readonly ItemFile[]): Promise<Receipt> {
    const { base, system, theirs, requests, signal } = this.#options;
    const path = `/${item.kind}/${encodeURIComponent(item.id)}?source=${system}${theirs ? '&theirs=true' : ''}`;
    const attempt = () => this.#request('PUT', path, this.#form(item, files));
    const answer = await requests.json('It cannot be sent', signal, attempt).catch((error) => {
      throw error instanceof SourceError && isRefused(error) ? unusable(base, error) : error;
    });
    const { data } = Receipt.safeParse(tryParseJson(answer));
    if (data) return data;
    throw new SourceError('The answer has a format that this version cannot read.');
  }

  /** Sends one request. @returns the text of the answer @throws {SourceError | TemporaryFault} */
  async #request(method: 'GET' | 'PUT', path: string, form?: Form): Promise<string> {
    const { base, username, password, requests, signal } = this.#options;
    const { idleMs } = requests.limits;
    const target = parseTarget(`${base}/admin/import${path}`);
    const headers = {
      Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      Accept: 'application/json',
      ...form?.headers,
    };
    try {
      await requests.turn(signal);
      const own = { hosts: [{ host: target.host, port: undefined }], variable: 'the URL', namedMayBePrivate: true };
      const socket = await connect(target, { ...own, signal });
      const answer = await sendRequest(target, socket, { method, headers, body: form?.body, idleMs, signal });
      const sentence = await text(responseBody(answer, { maxBytes: MAX_RECEIPT_BYTES, idleMs }).stream);
      if (answer.statusCode === 200) return sentence;
      throw statusFault(`${base}/admin/import`, answer.statusCode ?? 0, answer.headers['retry-after'], sentence);
    } catch (error) {
      throw asFault(error);
    } finally {
      form?.body.destroy();
    }
  }

  /** Returns an item and files as a form, which is read once. */
  #form(item: Item, files: readonly ItemFile[]): Form {
    const boundary = `inlet-${randomUUID()}`;
    const head = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name=${name}\r\n\r\n`;
    const parts = files.map((file) => ({ file, head: `\r\n${head(`"file"; filename="${file.name}"`)}` }));
    const begin = Buffer.from(head('"item"') + item.text);
    const end = `\r\n--${boundary}--\r\n`;
    const bytesOf = (file: ItemFile) => this.#bytes(file);
    async function* body() {
      yield begin;
      for (const part of parts) {
        yield Buffer.from(part.head);
        yield* bytesOf(part.file);
      }
      yield Buffer.from(end);
    }
    const sizes = parts.map((part) => part.head.length + part.file.size);
    const length = sizes.reduce((sum, size) => sum + size, begin.length + end.length);
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Length': String(length) };
    return { headers, body: Readable.from(body(), { objectMode: true, highWaterMark: 1 }) };
  }

  /** @throws {SourceError} for a file that is missing or has another size @throws {TemporaryFault} for a faulty storage */
  async *#bytes({ name, key, size }: ItemFile): AsyncGenerator<Uint8Array> {
    const { storage, signal, onBytes } = this.#options;
    let sent = 0;
    try {
      for await (const chunk of await storage.get(key, undefined, signal)) {
        sent += chunk.length;
        if (sent > size) break;
        onBytes(chunk.length);
        yield chunk;
      }
    } catch (error) {
      onBytes(-sent);
      if (error instanceof ObjectNotFound) throw new SourceError(`${name}: it is not in the storage.`);
      throw new TemporaryFault(`${name} cannot be read from the storage`);
    }
    if (sent !== size) throw new SourceError(`${name}: it does not have ${size} bytes.`);
  }
}

/** Returns the error for an Inlet that refuses everything. */
function unusable(base: string, error: SourceError): SourceUnusable {
  const sentences: Record<number, string> = {
    401: `${base} refuses the user name or the password. Check both.`,
    403: `The account at ${base} is not an administrator. Give it the role ROLE_ADMIN.`,
    404: `${base} is not an Inlet, or one of a version that receives no export. Check the URL, or update that Inlet.`,
  };
  return new SourceUnusable(sentences[error.status ?? 0] ?? error.message);
}
