import { expect } from 'vitest';
import type { Database } from '#platform/database/kysely.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { readAll, sha256 } from './bytes.ts';
import { OpenUpload } from './open-upload.ts';

const TYPE = 'application/offset+octet-stream';

/** A client of tus that sends exactly what a test wants it to. */
export class Resumable {
  readonly url: string;
  readonly authorization: string;

  constructor({ url, authorization }: { url: string; authorization: string }) {
    this.url = url;
    this.authorization = authorization;
  }

  /** Begins an upload of so many bytes. @returns its path */
  async create(length: number, headers: Record<string, string> = {}): Promise<string> {
    const answer = await this.fetch('/uploads', {
      method: 'POST',
      headers: { 'Upload-Length': String(length), ...headers },
    });
    if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
    return new URL(answer.headers.get('Location') ?? '').pathname;
  }

  /** Sends bytes from an offset on. */
  patch(path: string, offset: number, body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
    const about = { 'Content-Type': TYPE, 'Upload-Offset': String(offset), ...headers };
    return this.fetch(path, { method: 'PATCH', headers: about, body } as RequestInit);
  }

  /** Sends bytes from an offset on, as the test goes. */
  open(path: string, offset: number, length?: number, more: Record<string, string> = {}): OpenUpload {
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': String(offset), ...more };
    return new OpenUpload(this, {
      method: 'PATCH',
      path,
      type: TYPE,
      headers,
      ...(length !== undefined && { length }),
    });
  }

  head(path: string): Promise<Response> {
    return this.fetch(path, { method: 'HEAD' });
  }

  /** What `HEAD` says has come. Fails for an upload that is not there. */
  async offset(path: string): Promise<number> {
    const answer = await this.head(path);
    if (answer.status !== 200) throw new Error(`HEAD ${path} answered ${answer.status}.`);
    return Number(answer.headers.get('Upload-Offset'));
  }

  /** Sends what is missing of the data, in one request. @returns its answer */
  async finish(path: string, data: Uint8Array): Promise<Response> {
    const offset = await this.offset(path);
    return this.patch(path, offset, data.subarray(offset));
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: this.authorization, 'Tus-Resumable': '1.0.0', ...init.headers };
    return fetch(new URL(path, this.url), { ...init, headers });
  }
}

/** What the database knows of an upload. */
export function rowOf(database: Database, path: string) {
  return database
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', path.split('/').at(-1) ?? '')
    .executeTakeFirstOrThrow();
}

/** Fails unless an upload is complete, and its object holds that. */
export async function expectStored(
  { database, storage }: { database: Database; storage: ObjectStorage },
  path: string,
  data: Buffer,
) {
  const row = await rowOf(database, path);
  expect(row).toMatchObject({ stored: data.length, length: data.length, rest_bytes: 0 });
  expect(row.completed_at).not.toBeNull();
  expect(sha256(await readAll(await storage.get(row.object_key)))).toBe(sha256(data));
  return row;
}
