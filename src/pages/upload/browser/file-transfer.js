import { RequestError } from './api.js';

/** @import * as Tus from 'tus-js-client' */
/** @import { FileState } from '../upload-types.ts' */

/**
 * @typedef {object} TransferEvents none is raised after `onFailure`, `onDone` and `stop`
 * @property {(url: string) => void} onUrl its upload exists
 * @property {(bytes: number) => void} onProgress bytes sent in all
 * @property {(reason: string) => void} onWaiting it retries by itself; the reason is empty when nothing answered
 * @property {() => void} onDone
 * @property {(error: RequestError) => void} onFailure it does not retry
 */

const LONGEST_DELAY_MS = 10_000;
const RETRY_DELAYS = Array.from({ length: 100_000 }, (_, i) => Math.min(LONGEST_DELAY_MS, 500 * 2 ** Math.min(i, 10)));
const CHECK_MS = 5_000;
/** Without a byte sent. A dead connection reports nothing. */
const SILENCE_MS = 45_000;
/** For the answer, once all is sent: storage takes a while to put large objects together. */
const ANSWER_MS = 300_000;
const RETRIED = new Set([408, 409, 423, 425, 429, 460]);

/** A file on its way to the server, by tus. It retries until it is stopped, also over dead connections. */
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
  /** Whether the page has the URL of the upload; one that it has not is deleted on `stop`. */
  #known;

  /**
   * @param {typeof Tus} tus
   * @param {string} base the URL below which the server's paths are
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
      // The page saves it, with its recording.
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

  /** Stops it; what is uploaded stays. */
  stop() {
    this.#stopped = true;
    clearInterval(this.#watchdog);
    // One that is being created is deleted once its URL is known.
    if (this.#upload.url) this.#upload.abort().catch(() => undefined);
  }

  /** Retries immediately, if it waits. */
  retryNow() {
    if (this.#waiting) this.#restart();
  }

  /** The server gives URLs under its public name, which this page need not have. @param {string} url */
  #ownUrl(url) {
    return new URL(`uploads/${url.split('/').at(-1)}`, this.#base).href;
  }

  #keepUrl() {
    const { url, options } = this.#upload;
    if (this.#stopped) {
      this.#upload.abort(!this.#known).catch(() => undefined);
    } else if (url) {
      // With an endpoint the client starts a new upload after any answer that it does not expect.
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

  /** Browsers report a file that has changed like a broken connection. */
  #checkFile() {
    const message = `“${this.#file.name}” cannot be read any more: it was moved or changed. Choose it again.`;
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
