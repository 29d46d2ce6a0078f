import { sql } from 'kysely';
import { expect } from 'vitest';
import type { TestApp } from '../app.ts';

/** Words that tell of what is behind the API. */
const INSIDES =
  /\bat .*\.[cm]?[jt]s\b|node_modules|\bSELECT\b|\bINSERT INTO\b|syntax error|violates|ECONN|relation "|column "/;

/** A request as it goes to the application. */
export interface Attack {
  method: string;
  path: string;
  headers?: Record<string, string> | undefined;
  body?: BodyInit | undefined;
}

/**
 * Sends bad input and tells whether the answer is what bad input deserves: never a fault of the server, a refusal only
 * in a plain sentence that shows nothing of what is inside, and with a refusal nothing written.
 */
export class Judge {
  readonly #app: TestApp;
  #state = '';

  constructor(app: TestApp) {
    this.#app = app;
  }

  async try({ method, path, headers = {}, body }: Attack): Promise<number> {
    if (this.#state === '') this.#state = await this.#contents();
    const init = { method, headers, ...(body !== undefined && method !== 'GET' && { body, duplex: 'half' }) };
    const answer = await this.#app.request(path, init as RequestInit);
    const text = await answer.text();
    const about = `${method} ${path.slice(0, 300)}: ${answer.status} ${text.slice(0, 500)}`;
    // A part that answers late, as on a busy machine, is no fault of the input.
    if (answer.status === 503 && path.startsWith('/health/ready')) return answer.status;
    expect(answer.status, about).toBeLessThan(500);
    const state = await this.#contents();
    if (answer.status >= 400) {
      if (text !== '') expect(answer.headers.get('Content-Type'), about).toBe('text/plain; charset=utf-8');
      expect(text, about).not.toMatch(INSIDES);
      expect(text.length, about).toBeLessThan(20_000);
      expect(state, about).toBe(this.#state);
    }
    this.#state = state;
    return answer.status;
  }

  /** Whether the application still does its work. */
  async stillAnswers(): Promise<void> {
    for (const path of ['/health/live', '/api/events?limit=1', '/api/series?limit=1', '/api/info/me']) {
      const answer = await this.#app.request(path);
      expect([path, answer.status, typeof (await answer.json())]).toEqual([path, 200, 'object']);
    }
  }

  /** A sign of all that is known of events, series, capture agents and schedules. */
  async #contents(): Promise<string> {
    const tables = [
      ...['events', 'event_acl', 'event_catalogs', 'series', 'series_acl', 'series_catalogs', 'schedules'],
      ...[
        'playlists',
        'playlist_entries',
        'playlist_acl',
        'capture_agents',
        'tracks',
        'workflows',
        'publications',
        'staging',
      ],
    ];
    const signs = tables.map(
      (table) => sql`(SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM ${sql.table(table)} t)`,
    );
    const { rows } = await sql<{ sign: string }>`SELECT concat(${sql.join(signs)}) AS sign`.execute(this.#app.database);
    return rows[0]?.sign ?? '';
  }
}
