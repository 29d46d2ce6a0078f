import type { Audience, Recording } from './recording.ts';

/** Why a request did not do what it should. */
export interface Fault extends Error {
  /** 0 when nothing answered. */
  status: number;
  /** Whether the same request may succeed later. */
  passes: boolean;
}

/** What the page asks the server for. Everything rejects with a `Fault`. */
export interface Api {
  /**
   * Rejects with 401 also when another account has signed in, in another window. It tells the server that somebody is
   * still here, so that the session lasts.
   */
  stillOurs(): Promise<void>;
  /** Makes the event of a recording whose files are there; the same recording never makes two. @returns its identifier */
  createEvent(recording: Recording): Promise<string>;
  /** The state of an event's processing. */
  processingOf(eventId: string): Promise<string>;
  /** Where an event is watched; undefined when it is nowhere. */
  watchAddress(eventId: string): Promise<string | undefined>;
  searchSeries(words: string, signal: AbortSignal): Promise<{ id: string; title: string }[]>;
  /** How many bytes of an upload are there; undefined for one that is not there any more. */
  offsetOf(url: string): Promise<number | undefined>;
  /** Deletes an upload; one that is not there is no fault. */
  removeUpload(url: string): Promise<void>;
  /** @returns undefined, or why not */
  signIn(username: string, password: string): Promise<string | undefined>;
}

/**
 * @param base where the server's paths begin
 * @param page the account whose page it is, and the role that stands for it
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createApi(base: string, page: { account: string; role: string }): Api {
  const PATIENCE_MS = 60_000;
  const TUS = { 'Tus-Resumable': '1.0.0' };
  const states = new Map<string, { tag: string; state: string }>();
  const { account, role: ownRole } = page;

  const faultOf = (status: number, message: string, passes = status === 0 || status >= 500): Fault =>
    Object.assign(new Error(message), { status, passes });

  const refused = async (answer: Response): Promise<Fault> => {
    const { status, headers } = answer;
    const text = headers.get('Content-Type')?.startsWith('text/plain') ? await answer.text() : '';
    const passes = status >= 500 || status === 423 || status === 429 || headers.has('Retry-After');
    return faultOf(status, text.trim() || `The server answered ${status}.`, passes);
  };

  /** Answers with 2xx and 304. */
  const ask = async (path: string, { signal, headers, ...init }: RequestInit = {}): Promise<Response> => {
    const limits = [AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])];
    let answer: Response;
    try {
      answer = await fetch(new URL(path, base), {
        ...init,
        // With it the server lets the page ask for a password, and not the browser.
        headers: { 'X-Requested-With': 'XMLHttpRequest', ...headers },
        signal: AbortSignal.any(limits),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw faultOf(0, 'The server does not answer.');
    }
    if (answer.ok || answer.status === 304) return answer;
    throw await refused(answer);
  };

  const aclOf = (audience: Audience) => {
    const readers: Record<Exclude<Audience, 'series'>, string[]> = {
      account: [ownRole],
      users: [ownRole, 'ROLE_USER'],
      everybody: [ownRole, 'ROLE_ANONYMOUS'],
    };
    // Without a list of its own an event has that of its series.
    if (audience === 'series') return null;
    const read = readers[audience].map((role) => ({ role, action: 'read', allow: true }));
    return [...read, { role: ownRole, action: 'write', allow: true }];
  };

  const formOf = ({ details, files }: Recording) => {
    const { title, series, presenters, start, audience } = details;
    const [day, time] = [start.slice(0, 10), start.slice(11, 19)];
    const fields = [
      { id: 'title', value: title },
      ...(series ? [{ id: 'isPartOf', value: series.id }] : []),
      ...(presenters.length > 0 ? [{ id: 'creator', value: presenters }] : []),
      { id: 'startDate', value: day },
      { id: 'startTime', value: `${time}Z` },
    ];
    const uploads = files.map(({ field, url = '' }) => ({ id: url.split('/').at(-1), field }));
    const form = new FormData();
    form.set('acl', JSON.stringify(aclOf(audience)));
    form.set('metadata', JSON.stringify([{ flavor: 'dublincore/episode', fields }]));
    form.set('processing', JSON.stringify({ workflow: 'schedule-and-upload' }));
    form.set('uploads', JSON.stringify(uploads));
    return form;
  };

  const eventPath = (id: string) => `api/events/${encodeURIComponent(id)}`;

  return {
    stillOurs: async () => {
      // What tells of the account at /api needs a role that uploading does not.
      const { headers } = await ask('upload', { method: 'HEAD' });
      const signedIn = decodeURIComponent(headers.get('Inlet-Account') ?? '');
      if (signedIn !== account) throw faultOf(401, `“${signedIn}” has signed in.`);
    },
    createEvent: async (recording) => {
      const headers = { 'Idempotency-Key': recording.id };
      const answer = await ask('api/events', { method: 'POST', headers, body: formOf(recording) });
      return ((await answer.json()) as { identifier: string }).identifier;
    },
    processingOf: async (eventId) => {
      const known = states.get(eventId);
      const answer = await ask(eventPath(eventId), { headers: known ? { 'If-None-Match': known.tag } : {} });
      if (known && answer.status === 304) return known.state;
      const { processing_state: state } = (await answer.json()) as { processing_state: string };
      const tag = answer.headers.get('ETag');
      if (tag) states.set(eventId, { tag, state });
      return state;
    },
    watchAddress: async (eventId) => {
      // Needs no other role than to see the event; the list of publications by itself does.
      const answer = await ask(`${eventPath(eventId)}?withpublications=true&sign=true`);
      const { publications } = (await answer.json()) as { publications: { channel: string; url: string }[] };
      return publications.find(({ channel }) => channel === 'engage-player')?.url;
    },
    searchSeries: async (words, signal) => {
      const query = new URLSearchParams({ q: words, count: '20', sort: 'TITLE' });
      const answer = await ask(`api/series/series.json?${query}`, { signal });
      const found = (await answer.json()) as { identifier: string; title: string }[];
      return found.map(({ identifier: id, title }) => ({ id, title }));
    },
    offsetOf: async (url) => {
      try {
        const answer = await ask(url, { method: 'HEAD', headers: TUS, cache: 'no-store' });
        return Number(answer.headers.get('Upload-Offset') ?? 0);
      } catch (error) {
        const { status } = error as Fault;
        if (status === 404 || status === 410) return undefined;
        throw error;
      }
    },
    removeUpload: async (url) => {
      try {
        await ask(url, { method: 'DELETE', headers: TUS });
      } catch (error) {
        const { status } = error as Fault;
        if (status !== 404 && status !== 410) throw error;
      }
    },
    signIn: async (username, password) => {
      const body = new URLSearchParams({ username, password, next: '/upload' });
      // Where it leads to is nothing that this page would have to read.
      const answer = await fetch(new URL('sign-in', base), { method: 'POST', body, redirect: 'manual' });
      if (answer.type === 'opaqueredirect') return undefined;
      // A style, which this page's policy does not allow, would be told of on the console.
      const text = (await answer.text()).replace(/<style[\s\S]*?<\/style>/g, '');
      const page = new DOMParser().parseFromString(text, 'text/html');
      return page.querySelector('[role=alert]')?.textContent || `The server answered ${answer.status}.`;
    },
  };
}
