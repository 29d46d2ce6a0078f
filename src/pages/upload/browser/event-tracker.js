import { refreshOffsets, retryWork, toRequestError } from './api.js';

/** @import { Condition, QueueItem } from '../upload-types.ts' */
/** @import { Api } from './api.js' */

/**
 * @typedef {object} ItemChanges
 * @property {(item: QueueItem, condition: Condition, note?: string) => void} change
 * @property {(item: QueueItem, error: unknown) => void} fail
 */

/** @typedef {{ over: boolean, sentence: string, watch?: string }} Progress of the processing of an event */

const RENEW_MS = 300_000;
const FIRST_POLL_MS = 1_500;
const LONGEST_POLL_MS = 30_000;
const POLL_GROWTH = 1.25;
/** @type {Record<string, string>} */
const RUNNING = {
  '': 'Waiting to be processed.',
  INSTANTIATED: 'Waiting to be processed.',
  RUNNING: 'Processing takes a while; you can close this page.',
  PAUSED: 'Processing is paused until an operator resumes it.',
};
/** @type {Record<string, string>} */
const UNSUCCESSFUL = {
  FAILED: 'Processing failed. The files are uploaded; the operator of this server can see the reason.',
  STOPPED: 'Processing was stopped. The files are uploaded.',
};

/** Creates the events of uploaded recordings and follows their processing. */
export class EventTracker {
  #api;
  #changes;
  /** @type {WeakMap<QueueItem, Promise<string>>} */
  #creating = new WeakMap();
  #renewedAt = Date.now();

  /**
   * @param {Pick<Api, 'createEvent' | 'checkAccount' | 'processingState' | 'watchUrl' | 'uploadOffset'>} api
   * @param {ItemChanges} changes
   */
  constructor(api, changes) {
    this.#api = api;
    this.#changes = changes;
  }

  /** Creates the event of a recording, then follows it. @param {QueueItem} item */
  async create(item) {
    const { recording } = item;
    const { change, fail } = this.#changes;
    recording.stage = 'event';
    change(item, 'creating');
    const create = async () => {
      const event = this.#api.createEvent(recording);
      this.#creating.set(item, event);
      recording.eventId = await event;
      recording.stage = 'processing';
    };
    const wait = (/** @type {string} */ reason) => change(item, 'creating', `${reason} Trying again.`);
    try {
      if (await retryWork(this.#api, item, create, wait)) void this.follow(item);
    } catch (error) {
      const { status, message } = toRequestError(error);
      const uploadIsGone = status === 404 || (status === 400 && message.includes('is not finished'));
      if (!uploadIsGone) return fail(item, error);
      recording.stage = 'files';
      await refreshOffsets(this.#api, recording.files).catch(() => undefined);
      change(item, 'failed', message);
    }
  }

  /** Polls the state of an event until its processing is over. @param {QueueItem} item */
  async follow(item) {
    const attempt = Symbol();
    item.attempt = attempt;
    if (!item.watch) this.#changes.change(item, 'processing');
    let delay = FIRST_POLL_MS;
    let sentence;
    for (;;) {
      try {
        const progress = await this.#progressOf(item.recording.eventId ?? '');
        if (item.attempt !== attempt) return;
        if (progress.over) return this.#finish(item, progress);
        if (progress.sentence !== sentence) delay = FIRST_POLL_MS;
        sentence = progress.sentence;
        // A recording that can be watched keeps its condition while its link is renewed.
        if (!item.watch) this.#changes.change(item, 'processing', sentence);
      } catch (error) {
        if (item.attempt === attempt) {
          item.watch = undefined;
          this.#changes.fail(item, error);
        }
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (item.attempt !== attempt) return;
      delay = Math.min(LONGEST_POLL_MS, delay * POLL_GROWTH);
    }
  }

  /** Waits for an event that is being created. @param {QueueItem} item @returns {Promise<boolean>} true if it is too late to cancel */
  async wasCreated(item) {
    if (item.condition !== 'creating') return false;
    this.#changes.change(item, 'creating', 'Cancelling.');
    await this.#creating.get(item)?.catch(() => undefined);
    if (item.recording.stage !== 'processing') return false;
    void this.follow(item);
    return true;
  }

  /** Renews links after some minutes: signed links expire. @param {readonly QueueItem[]} items */
  renewLinks(items) {
    if (Date.now() - this.#renewedAt < RENEW_MS) return;
    this.#renewedAt = Date.now();
    for (const item of items) if (item.condition === 'over' && item.watch) void this.follow(item);
  }

  /** @param {QueueItem} item @param {Progress} progress */
  #finish(item, { sentence, watch }) {
    item.watch = watch;
    // The next visit asks for the link again.
    if (!watch) Object.assign(item.recording, { stage: 'over', outcome: sentence });
    this.#changes.change(item, 'over');
  }

  /** Rejects only when the account is signed out. @param {string} eventId @returns {Promise<Progress>} */
  async #progressOf(eventId) {
    try {
      const state = await this.#api.processingState(eventId);
      const sentence = RUNNING[state];
      if (sentence) return { over: false, sentence };
      if (state !== 'SUCCEEDED') return { over: true, sentence: UNSUCCESSFUL[state] ?? state };
      const watch = await this.#api.watchUrl(eventId);
      return { over: true, watch, sentence: watch ? '' : 'Processed. Nothing is published.' };
    } catch (error) {
      const refused = [403, 404].includes(toRequestError(error).status);
      // Another account may not see the event.
      const cause = refused ? await this.#api.checkAccount().then(() => error, toRequestError) : error;
      const { status, message } = toRequestError(cause);
      if (status === 401) throw cause;
      if (status === 404) {
        return { over: true, sentence: 'The recording was deleted after the upload.' };
      }
      if (status === 403) {
        return { over: true, sentence: 'The files are uploaded. This account may not see their processing.' };
      }
      return { over: false, sentence: `The processing state is unknown: ${message}` };
    }
  }
}
