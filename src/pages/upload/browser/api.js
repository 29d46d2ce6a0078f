/** @import { Audience, FileState, QueueItem, SavedRecording, Series } from '../upload-types.ts' */

const TIMEOUT_MS = 60_000;
const FIRST_RETRY_MS = 4_000;
const LONGEST_RETRY_MS = 60_000;
const TUS = { 'Tus-Resumable': '1.0.0' };

/** A failed request. */
export class RequestError extends Error {
  /** @param {number} status 0 without an answer @param {string} message @param {boolean} [isTransient] may succeed later */
  constructor(status, message, isTransient = status === 0 || status >= 500) {
    super(message);
    this.status = status;
    this.isTransient = isTransient;
  }
}

/** @param {unknown} error */
export const toRequestError = (error) =>
  error instanceof RequestError ? error : new RequestError(0, String(error), false);

/** The requests of the page. They reject with a `RequestError`. */
export class Api {
  #base;
  #account;
  #role;
  #isSigning;

  /** @param {string} base the URL of the server's root @param {{ account: string, role: string, isSigning?: boolean }} page its account, the role of this account alone, and true if links to recordings must be signed */
  constructor(base, { account, role, isSigning = false }) {
    this.#base = base;
    this.#account = account;
    this.#role = role;
    this.#isSigning = isSigning;
  }

  /** Keeps the session alive. Rejects with 401 if the account is signed out or another account has signed in. */
  async checkAccount() {
    // The account resource of /api needs a role that uploads do not need.
    const { headers } = await this.#request('upload', { method: 'HEAD' });
    const account = decodeURIComponent(headers.get('Inlet-Account') ?? '');
    if (account !== this.#account) throw new RequestError(401, `“${account}” has signed in.`);
  }

  /** Creates the event of a recording exactly once. @param {SavedRecording} recording @returns {Promise<string>} its identifier */
  async createEvent(recording) {
    const headers = { 'Idempotency-Key': recording.id };
    const body = eventForm(recording, this.#role);
    const answer = await this.#request('api/events', { method: 'POST', headers, body });
    return (await answer.json()).identifier;
  }

  /** @param {string} eventId @returns {Promise<string>} */
  async processingState(eventId) {
    const answer = await this.#request(eventPath(eventId));
    return (await answer.json()).processing_state;
  }

  /** @param {string} eventId @returns {Promise<string | undefined>} */
  async watchUrl(eventId) {
    // The list of publications needs a role that the event does not need. A signed link would also work for others.
    const answer = await this.#request(`${eventPath(eventId)}?withpublications=true&sign=${this.#isSigning}`);
    /** @type {{ publications: { channel: string, url: string }[] }} */
    const { publications } = await answer.json();
    return publications.find(({ channel }) => channel === 'engage-player')?.url;
  }

  /** @param {string} text @param {AbortSignal} signal @returns {Promise<Series[]>} */
  async searchSeries(text, signal) {
    const query = new URLSearchParams({ q: text, count: '20', sort: 'TITLE' });
    const answer = await this.#request(`api/series/series.json?${query}`, { signal });
    /** @type {{ identifier: string, title: string }[]} */
    const found = await answer.json();
    return found.map(({ identifier: id, title }) => ({ id, title }));
  }

  /** @param {string} url @returns {Promise<number | undefined>} the bytes of an upload; undefined if it is not found */
  async uploadOffset(url) {
    const answer = await this.#request(url, { method: 'HEAD', headers: TUS, cache: 'no-store' }).catch(ifGone);
    return answer && Number(answer.headers.get('Upload-Offset') ?? 0);
  }

  /** @param {string} url */
  async deleteUpload(url) {
    await this.#request(url, { method: 'DELETE', headers: TUS }).catch(ifGone);
  }

  /** @param {string} username @param {string} password @returns {Promise<string | undefined>} the reason of a refusal */
  async signIn(username, password) {
    const body = new URLSearchParams({ username, password, next: '/upload' });
    const answer = await fetch(new URL('sign-in', this.#base), { method: 'POST', body, redirect: 'manual' });
    if (answer.type === 'opaqueredirect') return undefined;
    // The policy of this page blocks other styles, which the console would report.
    const text = (await answer.text()).replace(/<style[\s\S]*?<\/style>/g, '');
    const page = new DOMParser().parseFromString(text, 'text/html');
    return page.querySelector('[role=alert]')?.textContent || `The server answered ${answer.status}.`;
  }

  /** Resolves with a 2xx answer. @param {string} path @param {RequestInit} [init] */
  async #request(path, { signal, headers, ...init } = {}) {
    const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
    // With this header, the browser does not ask for a password.
    const own = { 'X-Requested-With': 'XMLHttpRequest', ...headers };
    const options = { ...init, headers: own, signal: AbortSignal.any(limits) };
    const answer = await fetch(new URL(path, this.#base), options).catch((error) => {
      if (signal?.aborted) throw error;
      throw new RequestError(0, 'The server does not answer.');
    });
    if (answer.ok) return answer;
    const { status, headers: given } = answer;
    const text = given.get('Content-Type')?.startsWith('text/plain') ? await answer.text() : '';
    const isTransient = status >= 500 || status === 423 || status === 429 || given.has('Retry-After');
    throw new RequestError(status, text.trim() || `The server answered ${status}.`, isTransient);
  }
}

/**
 * Repeats work under the account of the page while it fails for transient reasons.
 *
 * @param {Pick<Api, 'checkAccount'>} api
 * @param {QueueItem} item a newer attempt of the item stops the work
 * @param {() => Promise<void>} work
 * @param {(reason: string) => void} onWait
 * @returns {Promise<boolean>} false if a newer attempt has stopped it
 */
export async function retryWork(api, item, work, onWait) {
  const attempt = Symbol();
  item.attempt = attempt;
  for (let delay = FIRST_RETRY_MS; item.attempt === attempt; delay = Math.min(LONGEST_RETRY_MS, 2 * delay)) {
    try {
      await api.checkAccount();
      if (item.attempt !== attempt) return false;
      await work();
      return item.attempt === attempt;
    } catch (error) {
      if (item.attempt !== attempt) return false;
      const { isTransient, message } = toRequestError(error);
      if (!isTransient) throw error;
      onWait(message);
    }
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  return false;
}

/**
 * Updates the offsets of files. An upload is forgotten if it is not found twice: proxies also answer 404 during updates.
 * Other failures leave a file unchanged.
 *
 * @param {Pick<Api, 'uploadOffset' | 'checkAccount'>} api
 * @param {readonly FileState[]} files
 */
export async function refreshOffsets(api, files) {
  for (const file of files) {
    if (!file.url) continue;
    const offset = await api.uploadOffset(file.url);
    if (offset !== undefined) {
      Object.assign(file, { sent: offset, done: offset === file.size, lost: false });
    } else if (!file.lost) {
      file.lost = true;
    } else {
      // Another account would not find it either.
      await api.checkAccount();
      Object.assign(file, { url: undefined, sent: 0, done: false, lost: false });
    }
  }
}

/** @param {string} id */
const eventPath = (id) => `api/events/${encodeURIComponent(id)}`;

/** @param {unknown} error @returns {undefined} */
function ifGone(error) {
  if ([404, 410].includes(toRequestError(error).status)) return;
  throw error;
}

/** @param {SavedRecording} recording @param {string} role */
function eventForm({ details, files }, role) {
  const { title, series, presenters, start, audience } = details;
  const fields = [
    { id: 'title', value: title },
    ...(series ? [{ id: 'isPartOf', value: series.id }] : []),
    ...(presenters.length > 0 ? [{ id: 'creator', value: presenters }] : []),
    { id: 'startDate', value: start.slice(0, 10) },
    { id: 'startTime', value: `${start.slice(11, 19)}Z` },
  ];
  const uploads = files.map(({ field, url = '' }) => ({ id: url.split('/').at(-1), field }));
  const form = new FormData();
  form.set('acl', JSON.stringify(aclFor(audience, role)));
  form.set('metadata', JSON.stringify([{ flavor: 'dublincore/episode', fields }]));
  form.set('processing', JSON.stringify({ workflow: 'schedule-and-upload' }));
  form.set('uploads', JSON.stringify(uploads));
  return form;
}

/** @param {Audience} audience @param {string} role */
function aclFor(audience, role) {
  // An event without an access list uses the list of its series.
  if (audience === 'series') return null;
  const readers = { account: [], users: ['ROLE_USER'], everybody: ['ROLE_ANONYMOUS'] }[audience];
  return [
    ...[role, ...readers].map((each) => ({ role: each, action: 'read', allow: true })),
    { role, action: 'write', allow: true },
  ];
}
