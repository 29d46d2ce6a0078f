import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { form, type Part } from './form.ts';
import { checkAnswer } from './openapi.ts';

/** What tests look at of an event. */
export interface EventJson {
  identifier: string;
  title: string;
  creator: string;
  processing_state: string;
  status: string;
  duration: number | null;
  publication_status: string[];
  [field: string]: unknown;
}

export interface ElementJson {
  id: string;
  mediatype: string;
  url: string;
  flavor: string;
  size: number;
  checksum: string;
  tags: string[];
  has_audio?: boolean;
  has_video?: boolean;
  duration?: number;
}

export interface PublicationJson {
  id: string;
  channel: string;
  mediatype: string;
  url: string;
  media: ElementJson[];
  attachments: ElementJson[];
  metadata: ElementJson[];
}

const ENDS = ['SUCCEEDED', 'FAILED', 'STOPPED', 'PAUSED'];
const PROCESSED_MS = 90_000;

/** A client of the API with the credentials of one account. */
export class Client {
  readonly url: string;
  readonly authorization: string;

  constructor(url: string, username = 'admin', password = 'opencast') {
    this.url = url;
    this.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  /** The same client with other credentials. */
  as(username: string, password: string): Client {
    return new Client(this.url, username, password);
  }

  /** Fails for answers that the OpenAPI document forbids. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('Authorization')) headers.set('Authorization', this.authorization);
    const url = new URL(path, this.url);
    const answer = await fetch(url, { redirect: 'manual', ...init, headers });
    await checkAnswer(init.method ?? 'GET', url.href, answer);
    return answer;
  }

  /** The JSON of a path that answers 200. */
  async json<T>(path: string, headers?: HeadersInit): Promise<T> {
    const answer = await this.fetch(path, { headers });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Posts a form. */
  post(path: string, parts: readonly Part[], headers: Record<string, string> = {}): Promise<Response> {
    const { type, body } = form(parts);
    return this.fetch(path, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
  }

  /** Posts a form to /api/events. */
  upload(parts: readonly Part[], headers?: Record<string, string>): Promise<Response> {
    return this.post('/api/events', parts, headers);
  }

  /** Has addresses handed out that need no account, for a form as of /api/events. */
  async handOut(parts: readonly Part[]): Promise<{ identifier: string; files: { url: string }[] }> {
    const answer = await this.post('/api/uploads', parts);
    const text = await answer.text();
    expect(answer.status, text).toBe(201);
    return JSON.parse(text);
  }

  /** Creates an event. @returns its identifier */
  async create(parts: readonly Part[], headers?: Record<string, string>): Promise<string> {
    const answer = await this.upload(parts, headers);
    const text = await answer.text();
    expect(answer.status, text).toBe(201);
    return (JSON.parse(text) as { identifier: string }).identifier;
  }

  event(id: string): Promise<EventJson> {
    return this.json(`/api/events/${id}`);
  }

  publications(id: string): Promise<PublicationJson[]> {
    return this.json(`/api/events/${id}/publications`);
  }

  /** Waits until the event's workflow has ended or paused. */
  async processed(id: string, timeoutMs = PROCESSED_MS): Promise<EventJson> {
    return this.reached(id, ENDS, timeoutMs);
  }

  /** Waits until the event is in one of the states. */
  async reached(id: string, states: readonly string[], timeoutMs = PROCESSED_MS): Promise<EventJson> {
    let event: EventJson | undefined;
    await eventually(
      async () => {
        event = await this.event(id);
        expect(states).toContain(event.processing_state);
      },
      timeoutMs,
      100,
    );
    if (!event) throw new Error('The event was not read.');
    return event;
  }
}
