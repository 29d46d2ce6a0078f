import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../../../test/support/client.ts';
import { Resumable } from '../../../test/support/resumable.ts';
import type { Outcome } from './upload.ts';

const PATIENCE_MS = 240_000;
const REQUEST_MS = 60_000;
const PAUSE_MS = 1_500;
/** Answers after which clients come again; 409 says that the one before is still under way. */
const LATER = new Set([408, 409, 423, 425, 429, 500, 502, 503, 504, 507, 401]);
const PIECES = 3;

/** What a client that does not give up is told at last. */
interface Told {
  status: number | undefined;
  text: string;
  headers: Headers;
}

const NOTHING: Told = { status: undefined, headers: new Headers(), text: '' };

/** Asks one API after the other, with the same request, until one answers for good. */
class Persistent {
  tries = 0;
  tookMs = 0;
  readonly #urls: readonly string[];
  readonly #until = performance.now() + PATIENCE_MS;
  #turn: number;

  constructor(urls: readonly string[], first: number) {
    this.#urls = urls;
    this.#turn = first;
  }

  get late(): boolean {
    return performance.now() > this.#until;
  }

  async ask(send: (url: string, signal: AbortSignal) => Promise<Told>): Promise<Told> {
    for (;;) {
      const told = await this.once(send);
      if ((told.status !== undefined && !LATER.has(told.status)) || this.late) return told;
      await pause(PAUSE_MS);
    }
  }

  async once(send: (url: string, signal: AbortSignal) => Promise<Told>): Promise<Told> {
    const url = this.#urls[this.#turn % this.#urls.length] ?? '';
    this.tries += 1;
    this.#turn += 1;
    const started = performance.now();
    const told = await send(url, AbortSignal.timeout(REQUEST_MS)).catch(() => NOTHING);
    this.tookMs = Math.round(performance.now() - started);
    return told;
  }
}

async function answered(response: Promise<Response>): Promise<Told> {
  const answer = await response;
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Sends a recording by tus in pieces, and makes an event of it with a key that makes repeating harmless. */
export async function sendResumably(
  urls: readonly string[],
  first: number,
  bytes: Buffer,
  form: (uploads: string) => { type: string; body: Buffer },
  key: string,
): Promise<Outcome> {
  const api = new Persistent(urls, first);
  const client = (url: string) => new Resumable(new Client(url));
  const failed = ({ status, text }: Told): Outcome => ({
    ...{ status, sentence: text, id: undefined },
    ...{ tookMs: api.tookMs, tries: api.tries },
  });
  const begun = await api.ask((url, signal) =>
    answered(
      client(url).fetch('/uploads', {
        ...{ method: 'POST', signal },
        headers: { 'Upload-Length': String(bytes.length) },
      }),
    ),
  );
  if (begun.status !== 201) return failed(begun);
  const { pathname } = new URL(begun.headers.get('Location') ?? '');
  for (let offset = 0; offset < bytes.length; ) {
    const head = await api.ask((url, signal) => answered(client(url).fetch(pathname, { method: 'HEAD', signal })));
    if (head.status !== 200) return failed(head);
    offset = Number(head.headers.get('Upload-Offset'));
    if (offset === bytes.length) break;
    const end = Math.min(bytes.length, offset + Math.ceil(bytes.length / PIECES));
    const from = offset;
    // Once: whatever becomes of it, HEAD tells.
    const sent = await api.once((url, signal) =>
      answered(
        client(url).fetch(pathname, {
          ...{ method: 'PATCH', signal, body: bytes.subarray(from, end) as BodyInit },
          headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(from) },
        }),
      ),
    );
    if (sent.status !== 204 && api.late) return failed(sent);
  }
  const id = pathname.split('/').at(-1) ?? '';
  const { type, body } = form(JSON.stringify([{ id, field: 'presenter' }]));
  const made = await api.ask((url, signal) =>
    answered(
      fetch(`${url}/api/events`, {
        ...{ method: 'POST', signal, body: body as BodyInit },
        headers: {
          'Content-Type': type,
          Authorization: new Client(url).authorization,
          'Idempotency-Key': key,
        },
      }),
    ),
  );
  if (made.status !== 201) return failed(made);
  const { identifier } = JSON.parse(made.text) as { identifier: string };
  return { status: 201, sentence: '', id: identifier, tookMs: api.tookMs, tries: api.tries };
}

/** Sends a media package in one request, and again until it is answered. @param id of the package and the event */
export async function sendAsAgent(
  urls: readonly string[],
  first: number,
  { type, body }: { type: string; body: Buffer },
  workflow: string,
  id: string,
): Promise<Outcome> {
  const api = new Persistent(urls, first);
  const told = await api.ask((url, signal) =>
    answered(
      fetch(`${url}/ingest/addMediaPackage/${workflow}`, {
        ...{ method: 'POST', signal, body: body as BodyInit },
        headers: { 'Content-Type': type, Authorization: new Client(url).authorization },
      }),
    ),
  );
  const { status, text } = told;
  const accepted = status === 200;
  return {
    ...{ status, sentence: accepted ? '' : text, id: accepted ? id : undefined },
    ...{ tookMs: api.tookMs, tries: api.tries },
  };
}
