import { RequestError } from './api.js';

/** @import * as Tus from 'tus-js-client' */
/** @import { FileState } from '../upload-types.ts' */

/**
 * @typedef {object} TransferEvents none follows `onFailure`, `onDone` or `stop`
 * @property {(url: string) => void} onUrl the upload exists
 * @property {(bytes: number) => void} onProgress the total bytes sent
 * @property {(reason: string) => void} onWaiting a retry follows; the reason is empty without an answer
 * @property {() => void} onDone
 * @property {(error: RequestError) => void} onFailure no retry follows
 */

const LONGEST_DELAY_MS = 10_000;
const RETRY_DELAYS = Array.from({ length: 100_000 }, (_, i) => Math.min(LONGEST_DELAY_MS, 500 * 2 ** Math.min(i, 10)));
const CHECK_MS = 5_000;
/** The longest time without a byte sent: a dead connection reports no error. */
const SILENCE_MS = 45_000;
/** The longest time for the answer after the last byte: storage assembles large objects. */
const ANSWER_MS = 300_000;
const RETRIED = new Set([408, 409, 423, 425, 429, 460]);

/** The upload of a file by tus. It retries until it is stopped. */
export class FileTransfer {
  #file;
  #events;
  #base;
  #upload;
  #watchdog;
  #stopped = false;
  #waiting = false;
  #sent = 0;
  #activeAt = performance.now();
  /** The page has the URL of the upload. Otherwise `stop` deletes the upload. */
  #known;

  /**
   * @param {typeof Tus} tus
   * @param {string} base the URL of the server's root
   * @param {File} file
   * @param {FileState} state
   * @param {TransferEvents} events
   */
  constructor(tus, base, file, state, events) {
    this.#file = file;
    this.#events = events;
    this.#base = base;
    this.#known = state.url !== undefined;
    const { httpStack } = tus.defaultOptions;
    this.#upload = new tus.Upload(file, {
      endpoint: state.url ? null : new URL('uploads', base).href,
      uploadUrl: state.url ?? null,
      metadata: { filename: file.name, filetype: file.type, flavor: `${state.field}/source` },
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
      retryDelays: RETRY_DELAYS,
      // The page saves the URL with the recording.
      storeFingerprintForResuming: false,
      httpStack: {
        createRequest: (method, url) =>
          httpStack.createRequest(method, url.endsWith('/uploads') ? url : this.#ownUrl(url)),
        getName: () => httpStack.getName(),
      },
      onUploadUrlAvailable: () => this.#keepUrl(),
      onProgress: (bytes) => this.#progress(bytes),
      onShouldRetry: ({ originalResponse }) => this.#shouldRetry(originalResponse),
      onError: (error) => this.#failWith(error),
      onSuccess: () => {
        if (this.#stopped) return;
        this.stop();
        events.onDone();
      },
    });
    this.#watchdog = setInterval(() => this.#checkSilence(), CHECK_MS);
    this.#upload.start();
  }

  /** Stops the transfer and keeps the uploaded bytes. */
  stop() {
    this.#stopped = true;
    clearInterval(this.#watchdog);
    // An upload that is being created is deleted when its URL is known.
    if (this.#upload.url) this.#upload.abort().catch(() => undefined);
  }

  /** Ends a wait between retries. */
  retryNow() {
    if (this.#waiting) this.#restart();
  }

  /** The server returns URLs with its public name, which this page may not use. @param {string} url */
  #ownUrl(url) {
    return new URL(`uploads/${url.split('/').at(-1)}`, this.#base).href;
  }

  #keepUrl() {
    const { url, options } = this.#upload;
    if (this.#stopped) {
      this.#upload.abort(!this.#known).catch(() => undefined);
    } else if (url) {
      // With an endpoint, the client would start a new upload after an unexpected answer.
      options.endpoint = null;
      this.#known = true;
      this.#events.onUrl(this.#ownUrl(url));
    }
  }

  /** @param {number} bytes */
  #progress(bytes) {
    if (this.#stopped) return;
    this.#waiting = false;
    this.#activeAt = performance.now();
    this.#sent = bytes;
    this.#events.onProgress(bytes);
  }

  /** @param {Tus.HttpResponse | null} response */
  #shouldRetry(response) {
    const status = response?.getStatus() ?? 0;
    if (this.#stopped || !(status === 0 || status >= 500 || RETRIED.has(status))) return false;
    if (status === 0) this.#checkFile();
    this.#wait(status === 409 || status === 423 ? '' : (response?.getBody() ?? ''));
    return true;
  }

  /** Browsers report a changed file like a broken connection. */
  #checkFile() {
    const message = `“${this.#file.name}” can no longer be read: it was moved or changed. Choose it again.`;
    this.#file
      .slice(0, 1)
      .arrayBuffer()
      .catch(() => this.#fail(0, message));
  }

  #checkSilence() {
    const limit = this.#sent >= this.#file.size && !this.#waiting ? ANSWER_MS : SILENCE_MS;
    if (performance.now() - this.#activeAt < limit) return;
    this.#wait('');
    this.#restart();
  }

  #restart() {
    if (this.#stopped) return;
    this.#activeAt = performance.now();
    this.#upload.abort().catch(() => undefined);
    this.#upload.start();
  }

  /** @param {string} reason */
  #wait(reason) {
    this.#waiting = true;
    this.#activeAt = performance.now();
    this.#events.onWaiting(reason);
  }

  /** @param {Error | Tus.DetailedError} error */
  #failWith(error) {
    const answer = 'originalResponse' in error ? error.originalResponse : null;
    const status = answer?.getStatus() ?? 0;
    const message = answer ? answer.getBody().trim() || `The server answered ${status}.` : error.message;
    this.#fail(status, message);
  }

  /** @param {number} status @param {string} message */
  #fail(status, message) {
    if (this.#stopped) return;
    this.stop();
    this.#events.onFailure(new RequestError(status, message));
  }
}
