import { refreshOffsets, retryWork, toRequestError } from './api.js';
import { EventTracker } from './event-tracker.js';

/** @import { Condition, Details, QueueItem, SavedRecording, TrackField } from '../upload-types.ts' */
/** @import { Api } from './api.js' */
/** @import { RecordingTransfers } from './recording-transfers.js' */
/** @import { SavedRecordings } from './saved-recordings.js' */

/**
 * @typedef {object} QueueParts
 * @property {Pick<Api, 'checkAccount' | 'createEvent' | 'deleteUpload' | 'processingState' | 'uploadOffset' | 'watchUrl'>} api
 * @property {RecordingTransfers} transfers
 * @property {Pick<SavedRecordings, 'list' | 'save' | 'remove'>} saved
 */

const ID_BYTES = 12;
/** @type {readonly Condition[]} */
const SENDING = ['uploading', 'waiting'];
/** Closing the window interrupts these conditions. @type {readonly Condition[]} */
const BUSY = [...SENDING, 'queued', 'creating'];

/** The recordings of this window. Uploads one recording at a time and creates its event. */
export class UploadQueue {
  /** @type {QueueItem[]} */
  items = [];
  /** Called after an item was added, changed or removed. @type {(item: QueueItem) => void} */
  onChange = () => undefined;
  /** @type {() => void} */
  onSignedOut = () => undefined;
  #parts;
  #events;

  /** @param {QueueParts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#events = new EventTracker(parts.api, {
      change: (item, condition, note) => this.#change(item, condition, note),
      fail: (item, error) => this.#fail(item, error),
    });
  }

  /** Continues with the saved recordings. */
  restore() {
    for (const recording of this.#parts.saved.list()) void this.#restore(this.#enter(recording, 'needs files'));
  }

  /** @param {Details} details @param {ReadonlyMap<TrackField, File>} files */
  add(details, files) {
    const states = [...files].map(([field, { name, size, type, lastModified }]) => {
      return { field, name, size, type, lastModified, url: undefined, sent: 0, done: false, lost: false };
    });
    /** @type {SavedRecording} */
    const recording = {
      ...{ id: newId(), details, files: states },
      ...{ stage: 'files', eventId: undefined, outcome: undefined },
    };
    const item = this.#enter(recording, 'queued');
    this.#parts.transfers.addFiles(item, [...files.values()]);
    this.#startNext();
  }

  /** @param {QueueItem} item */
  pause(item) {
    this.#stop(item);
    this.#change(item, 'paused');
    this.#startNext();
  }

  /** Continues with the next stage of a recording. @param {QueueItem} item */
  resume(item) {
    const { stage } = item.recording;
    if (stage === 'processing') void this.#events.follow(item);
    else if (stage === 'event') this.#createEvent(item);
    else this.#enqueue(item);
  }

  /** Supplies the files of a saved recording. @param {QueueItem} item @param {readonly File[]} files @returns {string | undefined} why they do not match */
  supplyFiles(item, files) {
    const matching = this.#parts.transfers.addFiles(item, files);
    const missing = this.#parts.transfers.missingFile(item);
    if (!missing) return void this.#enqueue(item);
    const { name, size } = missing;
    if (matching.length > 0) return `“${name}” is still missing.`;
    const namesake = files.find((file) => file.name === name);
    if (!namesake) return `This is not “${name}”.`;
    return namesake.size === size
      ? `This “${name}” has changed since the upload started. To upload the new file, cancel this recording.`
      : `This “${name}” is a different file: it has ${namesake.size} bytes, not ${size}.`;
  }

  /** Changes the details of a failed recording. @param {QueueItem} item @param {Details} details @returns {string | undefined} why it cannot */
  changeDetails(item, details) {
    if (!this.items.includes(item)) return 'The recording was cancelled.';
    if (item.condition !== 'failed') return 'The recording has already continued with the previous details.';
    item.recording.details = details;
    if (item.recording.stage === 'event') this.#createEvent(item);
    else this.#change(item, 'failed', item.note);
    return undefined;
  }

  /** Cancels a recording and deletes its uploads, or removes a finished one from the list. @param {QueueItem} item */
  async remove(item) {
    const { api, saved } = this.#parts;
    const { recording } = item;
    this.#stop(item);
    if (await this.#events.wasCreated(item)) return;
    const { id, files, stage } = recording;
    try {
      if (stage === 'files' || stage === 'event') {
        const urls = files.flatMap(({ url }) => url ?? []);
        // For another account, uploads that exist look deleted.
        if (urls.length > 0) await api.checkAccount();
        for (const url of urls) await api.deleteUpload(url);
      }
      if (!this.items.includes(item)) return;
      saved.remove(id);
      this.items.splice(this.items.indexOf(item), 1);
      this.onChange(item);
    } catch (error) {
      this.#fail(item, error, 'The uploaded files could not be deleted. ');
    }
    this.#startNext();
  }

  /** Continues with the recordings that wait for a sign-in. */
  continueSignedIn() {
    for (const item of this.items.filter(({ condition }) => condition === 'signed out')) this.resume(item);
  }

  renewLinks() {
    this.#events.renewLinks(this.items);
  }

  /** Returns true if closing the window would interrupt something. */
  isBusy() {
    return this.items.some(({ condition }) => BUSY.includes(condition));
  }

  /** @param {QueueItem} item @param {Condition} condition */
  #change(item, condition, note = '') {
    if (!this.items.includes(item)) return;
    Object.assign(item, { condition, note });
    this.#parts.saved.save(item.recording);
    this.onChange(item);
  }

  /** @param {QueueItem} item @param {unknown} error @param {string} [context] */
  #fail(item, error, context = '') {
    if (!this.items.includes(item)) return;
    const { status, message } = toRequestError(error);
    if (status !== 401) return this.#change(item, 'failed', context + message);
    this.#change(item, 'signed out');
    this.onSignedOut();
  }

  /** @param {SavedRecording} recording @param {Condition} condition */
  #enter(recording, condition) {
    const unknown = { rate: undefined, watch: undefined, attempt: undefined };
    /** @type {QueueItem} */
    const item = { recording, condition, note: '', ...unknown };
    this.items.push(item);
    this.#change(item, condition);
    return item;
  }

  /** @param {QueueItem} item */
  async #restore(item) {
    const { stage, files } = item.recording;
    if (stage === 'over') return this.#change(item, 'over');
    if (stage !== 'files') return this.resume(item);
    await refreshOffsets(this.#parts.api, files).catch(() => undefined);
    // The user may have supplied the files or removed the recording.
    if (!this.items.includes(item) || item.condition !== 'needs files') return;
    if (isUploaded(item)) this.#createEvent(item);
    else this.#change(item, 'needs files');
  }

  /** @param {QueueItem} item */
  #enqueue(item) {
    this.#change(item, 'queued');
    this.#startNext();
  }

  #startNext() {
    if (this.items.some(({ condition }) => SENDING.includes(condition))) return;
    const next = this.items.find(({ condition }) => condition === 'queued');
    if (next) void this.#prepare(next);
  }

  /** Updates the offsets of a recording, then sends its files. @param {QueueItem} item @returns {Promise<void>} */
  async #prepare(item) {
    const { api, transfers } = this.#parts;
    if (transfers.missingFile(item)) {
      this.#change(item, 'needs files');
      return this.#startNext();
    }
    this.#change(item, 'uploading');
    const lost = item.recording.files.filter((file) => file.lost);
    const wait = (/** @type {string} */ reason) => this.#change(item, 'waiting', reason);
    try {
      if (await retryWork(api, item, () => refreshOffsets(api, lost), wait)) this.#send(item);
    } catch (error) {
      this.#fail(item, error);
      this.#startNext();
    }
  }

  /** @param {QueueItem} item */
  #send(item) {
    const { transfers, saved } = this.#parts;
    if (isUploaded(item)) return this.#createEvent(item);
    // An upload that is gone needs its file again.
    if (transfers.missingFile(item)) return void this.#prepare(item);
    this.#change(item, 'uploading');
    transfers.start(item, {
      onUrl: () => saved.save(item.recording),
      onProgress: () => (item.condition === 'waiting' ? this.#change(item, 'uploading') : this.onChange(item)),
      onWaiting: (reason) => this.#change(item, 'waiting', reason),
      onArrived: () => (isUploaded(item) ? this.#createEvent(item) : this.#change(item, 'uploading')),
      onFailure: (error) => {
        this.#fail(item, error);
        this.#startNext();
      },
    });
  }

  /** @param {QueueItem} item */
  #createEvent(item) {
    void this.#events.create(item);
    this.#startNext();
  }

  /** @param {QueueItem} item */
  #stop(item) {
    this.#parts.transfers.stop(item);
    item.attempt = undefined;
  }
}

/** @param {QueueItem} item */
const isUploaded = ({ recording }) => recording.files.every(({ done }) => done);

/** Returns an identifier that sorts by time. */
function newId() {
  const random = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return `${Date.now().toString(36)}-${[...random].map((byte) => byte.toString(36)).join('')}`;
}
