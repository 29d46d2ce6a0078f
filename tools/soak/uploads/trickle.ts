import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { recording } from '../../../test/support/clips.ts';
import { eventFields, field, file, form } from '../../../test/support/form.ts';
import type { Random } from '../random.ts';
import { marked, TROUBLES } from '../world/tools.ts';
import { WORKFLOW } from '../world/workflow.ts';
import { sendAsAgent, sendResumably } from './again.ts';
import { sendForm } from './form.ts';
import type { Manner, Outcome, Recording, Upload } from './upload.ts';

const BETWEEN_MS = [1_500, 5_000] as const;
const AT_ONCE = 6;
const MANNERS: readonly Manner[] = [
  ...(['at once', 'at once', 'slowly', 'in crumbs', 'not to its end'] as const),
  ...(['resumably', 'resumably', 'as an agent', 'as an agent'] as const),
];
const LENGTHS = [
  ['mp4', 2],
  ['mpg', 1],
  ['mp3', 3],
] as const;

/** A trickle of uploads from all kinds of clients to any of the APIs. */
export class Trickle {
  readonly uploads: Upload[] = [];
  readonly #urls: readonly string[];
  readonly #random: Random;
  readonly #under = new Set<Promise<void>>();
  #recordings: Recording[] = [];
  #troubles: Recording[] = [];

  constructor(urls: readonly string[], random: Random) {
    this.#urls = urls;
    this.#random = random;
  }

  /** Makes the recordings. */
  async prepare(): Promise<void> {
    this.#recordings = await Promise.all(
      LENGTHS.map(async ([container, seconds]) => ({
        filename: `lecture.${container}`,
        duration: seconds * 1000,
        bytes: await recording({ container, seconds }),
      })),
    );
    const [whole] = this.#recordings;
    if (!whole) return;
    this.#troubles = TROUBLES.map((trouble) => ({ ...whole, bytes: marked(whole.bytes, trouble), trouble }));
  }

  /** Sends one recording of each kind and waits for the answers. */
  async oneOfEach(): Promise<void> {
    await Promise.all(this.#recordings.map((each) => this.#upload(each, 'at once')));
  }

  /** Sends those with which the tools do not do their work. */
  async troubles(): Promise<void> {
    await Promise.all(this.#troubles.map((each) => this.#upload(each, 'as an agent')));
  }

  /**
   * Uploads until the signal, and then until what is under way is answered.
   *
   * @param room whether the workers are not too far behind
   */
  async run(signal: AbortSignal, room: () => boolean): Promise<void> {
    while (!signal.aborted) {
      if (this.#under.size < AT_ONCE && room()) {
        const upload = this.#upload(this.#random.of(this.#recordings), this.#random.of(MANNERS));
        const done = upload.then(() => void this.#under.delete(done));
        this.#under.add(done);
      }
      await pause(this.#random.between(...BETWEEN_MS));
    }
    await Promise.all(this.#under);
  }

  async #upload(recording: Recording, manner: Manner): Promise<void> {
    const title = `Soak ${this.uploads.length + 1}`;
    const upload: Upload = {
      ...{ title, manner, recording, status: undefined, id: undefined, sentence: '' },
      ...{ tookMs: 0, tries: 0 },
    };
    this.uploads.push(upload);
    Object.assign(upload, await this.#send(upload));
  }

  #send({ title, manner, recording: { filename, bytes } }: Upload): Promise<Outcome> {
    const first = this.#random.between(0, this.#urls.length) | 0;
    const fields = eventFields({ title, workflow: WORKFLOW });
    if (manner === 'resumably') {
      const made = (uploads: string) => form([...fields, field('uploads', uploads)]);
      return sendResumably(this.#urls, first, bytes, made, randomUUID());
    }
    if (manner === 'as an agent') {
      const id = randomUUID();
      const body = form([
        ...[field('title', title), field('identifier', id), field('flavor', 'presenter/source')],
        field('acl', '{"acl":{"ace":[{"role":"ROLE_ANONYMOUS","action":"read"}]}}'),
        file('BODY', filename, bytes),
      ]);
      return sendAsAgent(this.#urls, first, body, WORKFLOW, id);
    }
    const body = form([...fields, file('presenter', filename, bytes)]);
    return sendForm(this.#urls[first] ?? '', body, manner, this.#random.next());
  }
}
