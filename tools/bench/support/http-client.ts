import { randomBytes, randomUUID } from 'node:crypto';
import { type Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Where an API is, and who asks. */
export interface ApiAddress {
  url: string;
  username: string;
  password: string;
}

/** A file part: bytes made on the way, or those of a file. */
export interface TrackSource {
  bytes: number;
  filename: string;
  content: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface NewEvent {
  workflow: string;
  track?: TrackSource;
  /** When and by which agent it is to be recorded. */
  scheduling?: Record<string, unknown>;
}

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

const CHUNK = randomBytes(2 ** 20);

/** Random bytes at next to no cost: the same mebibyte again and again. */
export function* cheapBytes(total: number, chunk: Uint8Array = CHUNK): Iterable<Uint8Array> {
  for (let left = total; left > 0; left -= chunk.length) {
    yield left < chunk.length ? chunk.subarray(0, left) : chunk;
  }
}

/** A track of so many cheap bytes. */
export function cheapTrack(bytes: number): TrackSource {
  return { bytes, filename: 'recording.mp4', content: () => cheapBytes(bytes) };
}

/** Creates an event. @returns its identifier */
export async function postEvent(api: ApiAddress, event: NewEvent, agent?: Agent): Promise<string> {
  const { status, body } = await sendEvent(api, event, agent);
  if (status !== 201) throw new Error(`POST /api/events answered ${status}: ${body}`);
  return JSON.parse(body).identifier;
}

/** `POST /api/events` as clients do it: one multipart request of a known length. */
export async function sendEvent(api: ApiAddress, event: NewEvent, agent?: Agent): Promise<Answer> {
  const boundary = `bench-${randomUUID()}`;
  const { head, tail } = formAround(boundary, event);
  const length = head.length + (event.track?.bytes ?? 0) + tail.length;
  const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Length': length };
  return ask(api, '/api/events', { method: 'POST', headers, agent }, async function* () {
    yield head;
    if (event.track) yield* event.track.content();
    yield tail;
  });
}

/** One request; `body` is streamed with back-pressure. */
export async function ask(
  api: ApiAddress,
  path: string,
  options: RequestOptions = {},
  body?: () => AsyncIterable<Uint8Array>,
): Promise<Answer> {
  const outgoing = request(`${api.url}${path}`, {
    ...options,
    auth: `${api.username}:${api.password}`,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const sent = body ? pipeline(Readable.from(body()), outgoing) : void outgoing.end();
  const [answer, sending] = await Promise.allSettled([
    answered.then(async (response) => ({
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: (await buffer(response)).toString('utf8'),
    })),
    sent,
  ]);
  // A refusal in the middle of the body says more than the broken connection after it.
  if (answer.status === 'rejected') throw answer.reason;
  if (sending.status === 'rejected' && answer.value.status < 400) throw sending.reason;
  return answer.value;
}

function formAround(boundary: string, { workflow, track, scheduling }: NewEvent) {
  const fields = {
    acl: [],
    metadata: [{ flavor: 'dublincore/episode', fields: [{ id: 'title', value: 'Benchmark' }] }],
    processing: { workflow },
    ...(scheduling && { scheduling }),
  };
  const head = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${JSON.stringify(value)}\r\n`,
  );
  if (track) {
    head.push(
      `--${boundary}\r\nContent-Disposition: form-data; name="presenter"; filename="${track.filename}"\r\n`,
      'Content-Type: application/octet-stream\r\n\r\n',
    );
  }
  const tail = `${track ? '\r\n' : ''}--${boundary}--\r\n`;
  return { head: Buffer.from(head.join('')), tail: Buffer.from(tail) };
}
