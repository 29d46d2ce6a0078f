import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file, form } from '../support/form.ts';
import { OpenUpload, type UploadAnswer } from '../support/open-upload.ts';
import type { Random } from './random.ts';

const BETWEEN_MS = [1_000, 4_000] as const;
const AT_ONCE = 6;
/** Longer than anything may take that is answered at all. */
const ANSWER_MS = 180_000;
const PIECES = 20;
const SLOW_MS = 15_000;
/** What is sent byte by byte, each in a chunk of its own. */
const CRUMBS = 2_000;

/** How a client sends its recording. */
const MANNERS = ['at once', 'at once', 'at once', 'slowly', 'in crumbs', 'not to its end'] as const;
type Manner = (typeof MANNERS)[number];

/** A recording of known length. */
interface Recording {
  filename: string;
  seconds: number;
  bytes: Buffer;
}

/** What became of an upload. */
export interface Upload {
  title: string;
  manner: Manner;
  /** How long the recording is, in milliseconds. */
  duration: number;
  /** The status; undefined when there was no answer. */
  status: number | undefined;
  /** Of the event, when it was accepted. */
  id: string | undefined;
  /** The sentence of a refusal. */
  sentence: string;
  /** How long the client waited for the answer, in milliseconds. */
  tookMs: number;
}

/** A trickle of uploads from all kinds of clients. */
export class Trickle {
  readonly uploads: Upload[] = [];
  readonly #client: Client;
  readonly #random: Random;
  readonly #under = new Set<Promise<void>>();
  #recordings: Recording[] = [];

  constructor(url: string, random: Random) {
    this.#client = new Client(url);
    this.#random = random;
  }

  /** Makes the recordings. */
  async prepare(): Promise<void> {
    this.#recordings = await Promise.all(
      (
        [
          ['mp4', 2],
          ['mpg', 1],
          ['mp3', 3],
        ] as const
      ).map(async ([container, seconds]) => ({
        filename: `lecture.${container}`,
        seconds,
        bytes: await recording({ container, seconds }),
      })),
    );
  }

  /** Sends one recording of each kind and waits for the answers. @returns those that were accepted */
  async oneOfEach(): Promise<Upload[]> {
    const sent = this.#recordings.map((each) => this.#upload(each, 'at once'));
    return (await Promise.all(sent)).filter(({ id }) => id !== undefined);
  }

  /** Uploads until the signal, and then until what is under way is answered. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#under.size < AT_ONCE) {
        const upload = this.#upload(this.#random.of(this.#recordings), this.#random.of(MANNERS));
        const done = upload.then(() => void this.#under.delete(done));
        this.#under.add(done);
      }
      await pause(this.#random.between(...BETWEEN_MS));
    }
    await Promise.all(this.#under);
  }

  async #upload({ filename, seconds, bytes }: Recording, manner: Manner): Promise<Upload> {
    const title = `Soak ${this.uploads.length + 1}`;
    const { type, body } = form([...eventFields({ title }), file('presenter', filename, bytes)]);
    const upload: Upload = {
      ...{ title, manner, duration: seconds * 1000, status: undefined, id: undefined, sentence: '' },
      tookMs: 0,
    };
    this.uploads.push(upload);
    const open = new OpenUpload(
      this.#client,
      manner === 'in crumbs' ? { type } : { type, length: body.length },
    );
    let sent = performance.now();
    open.answer.catch(() => undefined).finally(() => (sent = Math.min(sent, performance.now())));
    const answer = await Promise.race([
      send(open, body, manner, this.#random.next()).then(() => {
        sent = performance.now();
        return open.answer;
      }),
      open.answer,
      pause(ANSWER_MS + SLOW_MS, undefined, { ref: false }),
    ]).catch(() => undefined);
    open.cut();
    upload.tookMs = Math.round(performance.now() - sent);
    if (answer) Object.assign(upload, outcome(answer));
    return upload;
  }
}

async function send(open: OpenUpload, body: Buffer, manner: Manner, fraction: number): Promise<void> {
  if (manner === 'at once') await open.write(body);
  if (manner === 'slowly') {
    const size = Math.ceil(body.length / PIECES);
    for (let at = 0; at < body.length; at += size) {
      await open.write(body.subarray(at, at + size));
      await pause(SLOW_MS / PIECES);
    }
  }
  if (manner === 'in crumbs') {
    for (let at = 0; at < CRUMBS; at += 1) await open.write(body.subarray(at, at + 1));
    await open.write(body.subarray(CRUMBS));
  }
  if (manner === 'not to its end') {
    await open.write(body.subarray(0, Math.floor(body.length * fraction)));
    open.cut();
    return;
  }
  open.end();
}

function outcome({ status, body }: UploadAnswer): Partial<Upload> {
  if (status !== 201) return { status, sentence: body };
  return { status, id: (JSON.parse(body) as { identifier: string }).identifier };
}
