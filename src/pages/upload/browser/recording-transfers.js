/** @import { FileState, QueueItem, TrackField } from '../upload-types.ts' */
/** @import { RequestError } from './api.js' */
/** @import { FileTransfer, TransferEvents } from './file-transfer.js' */

/** @typedef {Pick<FileTransfer, 'stop' | 'retryNow'>} Transfer */
/** @typedef {(file: File, state: FileState, events: TransferEvents) => Transfer} StartTransfer */
/**
 * @typedef {object} RecordingEvents
 * @property {() => void} onUrl the URL of an upload is known
 * @property {() => void} onProgress
 * @property {(reason: string) => void} onWaiting a file waits
 * @property {() => void} onArrived a file is uploaded
 * @property {(error: RequestError) => void} onFailure all files have stopped
 */

/** The files of the recordings, and their transfers. */
export class RecordingTransfers {
  #startTransfer;
  /** @type {WeakMap<QueueItem, Map<TrackField, File>>} */
  #sources = new WeakMap();
  /** @type {Map<QueueItem, Map<TrackField, Transfer>>} */
  #running = new Map();

  /** @param {StartTransfer} startTransfer */
  constructor(startTransfer) {
    this.#startTransfer = startTransfer;
  }

  /** Adds the files that match the recording by name, size and time. @param {QueueItem} item @param {readonly File[]} files @returns {File[]} */
  addFiles(item, files) {
    const { recording } = item;
    const sources = this.#sourcesOf(item);
    /** @type {File[]} */
    const matching = [];
    for (const { field, name, size, lastModified } of recording.files.filter(({ done }) => !done)) {
      const file = files
        .filter((each) => !matching.includes(each))
        .find((each) => each.name === name && each.size === size && each.lastModified === lastModified);
      if (!file) continue;
      sources.set(field, file);
      matching.push(file);
    }
    return matching;
  }

  /** Finds a file that the browser needs again. @param {QueueItem} item */
  missingFile(item) {
    return item.recording.files.find(({ done, field }) => !done && !this.#sourcesOf(item).has(field));
  }

  /** @param {QueueItem} item @param {RecordingEvents} events */
  start(item, events) {
    const meter = new RateMeter();
    /** @type {Map<TrackField, Transfer>} */
    const transfers = new Map();
    this.#running.set(item, transfers);
    for (const state of item.recording.files.filter(({ done }) => !done)) {
      const source = this.#sourcesOf(item).get(state.field);
      if (!source) continue;
      const transfer = this.#startTransfer(source, state, this.#transferEvents(item, state, meter, events));
      transfers.set(state.field, transfer);
    }
  }

  /** @param {QueueItem} item */
  stop(item) {
    for (const transfer of this.#running.get(item)?.values() ?? []) transfer.stop();
    this.#running.delete(item);
    item.rate = undefined;
  }

  /** Ends all waits between retries. */
  retryNow() {
    for (const transfers of this.#running.values()) {
      for (const transfer of transfers.values()) transfer.retryNow();
    }
  }

  /** @param {QueueItem} item @returns {Map<TrackField, File>} */
  #sourcesOf(item) {
    const sources = this.#sources.get(item) ?? new Map();
    this.#sources.set(item, sources);
    return sources;
  }

  /** @param {QueueItem} item @param {FileState} state @param {RateMeter} meter @param {RecordingEvents} events @returns {TransferEvents} */
  #transferEvents(item, state, meter, events) {
    return {
      onUrl: (url) => {
        state.url = url;
        events.onUrl();
      },
      onProgress: (bytes) => {
        state.sent = bytes;
        item.rate = meter.add(byteTotals(item.recording.files).sent, performance.now());
        events.onProgress();
      },
      onWaiting: (reason) => {
        meter.reset();
        item.rate = undefined;
        events.onWaiting(reason);
      },
      onDone: () => {
        Object.assign(state, { done: true, sent: state.size });
        this.#running.get(item)?.delete(state.field);
        events.onArrived();
      },
      onFailure: (error) => {
        this.stop(item);
        if (error.status === 404 || error.status === 410) state.lost = true;
        // Status 0: the file has changed.
        if (error.status === 0) this.#sourcesOf(item).delete(state.field);
        events.onFailure(error);
      },
    };
  }
}

const WINDOW_MS = 10_000;
const SHORTEST_MS = 1_000;

/** Measures the rate of a transfer over the last ten seconds. */
export class RateMeter {
  /** @type {{ bytes: number, at: number }[]} */
  #samples = [];

  /** @param {number} bytes in total @param {number} now in milliseconds @returns bytes per second, once it can be measured */
  add(bytes, now) {
    // Lost bytes are sent again.
    if (bytes < (this.#samples.at(-1)?.bytes ?? 0)) this.#samples = [];
    this.#samples.push({ bytes, at: now });
    while (this.#samples.length > 2 && (this.#samples[1]?.at ?? now) < now - WINDOW_MS) this.#samples.shift();
    const first = this.#samples[0] ?? { bytes, at: now };
    return now - first.at < SHORTEST_MS ? undefined : ((bytes - first.bytes) * 1000) / (now - first.at);
  }

  reset() {
    this.#samples = [];
  }
}

/** Adds up the bytes of files. @param {readonly FileState[]} files */
export function byteTotals(files) {
  return {
    sent: files.reduce((sum, file) => sum + file.sent, 0),
    size: files.reduce((sum, file) => sum + file.size, 0),
  };
}
