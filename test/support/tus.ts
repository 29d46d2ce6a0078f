import { expect } from 'vitest';
import type { TestApp } from './app.ts';

/** What a test says of an upload that it makes. */
export interface UploadOptions {
  /** `Upload-Metadata`, not yet encoded. */
  metadata?: Record<string, string>;
  headers?: Record<string, string>;
  /** How many bytes a request brings; all of them unless given. */
  chunk?: number;
  /** How many bytes come at all; all of them unless given. */
  until?: number;
}

const VERSION = { 'Tus-Resumable': '1.0.0' };
const STREAM = { 'Content-Type': 'application/offset+octet-stream' };

/** As `Upload-Metadata` has it. */
export function encoded(metadata: Record<string, string>): string {
  return Object.entries(metadata)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',');
}

/** Sends a request of tus to the application; as the administrator unless the headers say otherwise. */
export function tus(
  app: TestApp,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Uint8Array | ReadableStream,
): Promise<Response> {
  const init = { method, headers: { ...VERSION, ...headers }, body, duplex: 'half' };
  return app.request(path, init as RequestInit);
}

/** Sends more of an upload, from `offset` on. */
export function append(
  app: TestApp,
  id: string,
  offset: number,
  body: Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Promise<Response> {
  const all = { ...STREAM, 'Upload-Offset': String(offset), ...headers };
  return tus(app, 'PATCH', `/uploads/${id}`, all, body);
}

/** Begins an upload, of a length unless `headers` say otherwise. @returns its identifier */
export async function begin(
  app: TestApp,
  length: number | undefined,
  { metadata, headers = {} }: UploadOptions = {},
): Promise<string> {
  const answer = await tus(app, 'POST', '/uploads', {
    ...(length !== undefined && { 'Upload-Length': String(length) }),
    ...(metadata && { 'Upload-Metadata': encoded(metadata) }),
    ...headers,
  });
  expect(answer.status, await answer.text()).toBe(201);
  return answer.headers.get('Location')?.split('/').at(-1) ?? '';
}

/** Makes an upload. @returns its identifier */
export async function uploadOf(
  app: TestApp,
  content: Uint8Array,
  { chunk = content.length, until = content.length, ...options }: UploadOptions = {},
): Promise<string> {
  const id = await begin(app, content.length, options);
  for (let offset = 0; offset < until; offset += chunk) {
    const part = content.subarray(offset, Math.min(offset + chunk, until));
    const answer = await append(app, id, offset, part, options.headers);
    expect(answer.status, await answer.text()).toBe(204);
  }
  return id;
}

/** How far an upload is; its status alone when it is not there. */
export async function stateOf(app: TestApp, id: string, headers: Record<string, string> = {}) {
  const answer = await tus(app, 'HEAD', `/uploads/${id}`, headers);
  const number = (name: string) => {
    const value = answer.headers.get(name);
    return value === null ? undefined : Number(value);
  };
  return { status: answer.status, offset: number('Upload-Offset'), length: number('Upload-Length') };
}
