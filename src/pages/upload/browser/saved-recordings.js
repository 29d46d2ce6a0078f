/** @import { SavedRecording } from '../upload-types.ts' */

/**
 * Saves the recordings of one account at one server in the browser, each under its own key, so that two windows do not
 * overwrite each other. Without storage (full or disabled), a reload forgets the recordings.
 */
export class SavedRecordings {
  #prefix;

  /** @param {string} base the URL of the server: several may share an origin @param {string} account */
  constructor(base, account) {
    this.#prefix = `inlet upload ${base} ${encodeURIComponent(account)} `;
  }

  /** Lists the recordings, the oldest first. @returns {SavedRecording[]} */
  list() {
    const keys = attempt(() => Object.keys(localStorage)) ?? [];
    return keys
      .filter((key) => key.startsWith(this.#prefix))
      .flatMap((key) => attempt(() => JSON.parse(localStorage.getItem(key) ?? '')) ?? [])
      .filter(({ files }) => Array.isArray(files))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** @param {SavedRecording} recording */
  save(recording) {
    attempt(() => localStorage.setItem(this.#prefix + recording.id, JSON.stringify(recording)));
  }

  /** @param {string} id */
  remove(id) {
    attempt(() => localStorage.removeItem(this.#prefix + id));
  }
}

/** @template T @param {() => T} work @returns {T | undefined} */
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
