import pino from 'pino';
import * as tus from 'tus-js-client';
import { expect } from 'vitest';
import type { TestApp } from './app.ts';
import { eventFields, field, form, type Part } from './form.ts';
import { checkAnswer } from './openapi.ts';
import { serveApp } from './serve-uploads.ts';

/** The application behind a server, for clients that speak HTTP. */
export interface DirectServer extends TestApp {
  base: string;
  /** Every line that requests have logged. */
  log: string[];
}

/** What somebody was handed out. */
export interface Addresses {
  id: string;
  urls: string[];
}

export const STREAM = {
  'Tus-Resumable': '1.0.0',
  'Content-Type': 'application/offset+octet-stream',
} as const;

export async function startDirect(environment: Record<string, string> = {}): Promise<DirectServer> {
  const log: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void log.push(line) });
  const { app, admin, close } = await serveApp(environment, undefined, { log: logger });
  return { ...app, base: admin.url, log, close };
}

/** What addresses are asked for with: fields beside those of an event, and other parts and headers. */
export type HandOut = [
  more?: Readonly<Record<string, string>>,
  how?: { parts?: readonly Part[]; headers?: Record<string, string> },
];

/** Asks for addresses; as the administrator unless the headers say otherwise. */
export function ask(
  app: TestApp,
  ...[more = {}, { parts = eventFields(), headers = {} } = {}]: HandOut
): Promise<Response> {
  const extra = Object.entries(more).map(([name, value]) => field(name, value));
  const { type, body } = form([...parts, ...extra]);
  return app.request('/api/uploads', { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
}

export async function handOut(app: TestApp, ...about: HandOut): Promise<Addresses> {
  const answer = await ask(app, ...about);
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  const { identifier: id, files } = JSON.parse(text) as { identifier: string; files: { url: string }[] };
  return { id, urls: files.map(({ url }) => url) };
}

/** The same for one file. */
export async function handOutOne(app: TestApp, ...about: HandOut): Promise<{ id: string; url: string }> {
  const { id, urls } = await handOut(app, ...about);
  return { id, url: urls[0] ?? '' };
}

/** What the account is told of a direct upload. */
export async function told(app: TestApp, id: string, headers: Record<string, string> = {}) {
  const answer = await app.request(`/api/uploads/${id}`, { headers });
  const text = await answer.text();
  return { status: answer.status, ...(answer.status === 200 && JSON.parse(text)) };
}

/** Sends all of it by tus-js-client. @returns the event, if the last answer tells one */
export function sendAll(content: Buffer, options: tus.UploadOptions): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(content as unknown as Blob, {
      retryDelays: [],
      ...options,
      onError: reject,
      onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader('Inlet-Event-Id')),
    });
    upload.start();
  });
}

/** The way that takes an address for an upload that is there. */
export const asUpload = (url: string): tus.UploadOptions => ({ uploadUrl: url, uploadLengthDeferred: true });
/** The way that takes it for a place to begin one. */
export const asEndpoint = (url: string): tus.UploadOptions => ({
  endpoint: url,
  metadata: { filename: 'Vorlesung ü.mp4' },
});

/** One request of the protocol. Fails for answers that the OpenAPI document forbids. */
export async function tusRequest(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: Uint8Array | ReadableStream,
): Promise<Response> {
  const init = { method, headers: { 'Tus-Resumable': '1.0.0', ...headers }, body, duplex: 'half' };
  const answer = await fetch(url, init as RequestInit);
  await checkAnswer(method, new URL(url).pathname, answer);
  return answer;
}

/** Sends all of it in one request. */
export function patchAll(url: string, content: Uint8Array, more: Record<string, string> = {}) {
  const headers = { ...STREAM, 'Upload-Offset': '0', 'Upload-Length': String(content.length), ...more };
  return tusRequest('PATCH', url, headers, content);
}
