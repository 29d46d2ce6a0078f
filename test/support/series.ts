import { expect } from 'vitest';
import type { TestApp } from './app.ts';

/** An entry of an access control list as it is sent. */
export interface SentAce {
  allow: boolean;
  action: string;
  role: string;
}

export const ace = (role: string, action = 'read', allow = true): SentAce => ({ allow, action, role });

/** What comes back, ready to be compared. */
export type Answer = Awaited<ReturnType<typeof send>>;

/** Sends a form as an urlencoded body, or no body for GET and DELETE; as the administrator unless told otherwise. */
export async function send(
  app: TestApp,
  method: string,
  path: string,
  fields: Record<string, string> | undefined = undefined,
  headers: Record<string, string> = {},
) {
  const body = fields && new URLSearchParams(fields);
  const answer = await app.request(path, { method, headers, body });
  return {
    status: answer.status,
    type: answer.headers.get('Content-Type'),
    location: answer.headers.get('Location'),
    text: await answer.text(),
  };
}

/** The form field `metadata` with one catalog. */
export function catalogOf(values: Record<string, unknown>, flavor = 'dublincore/series'): string {
  const fields = Object.entries(values).map(([id, value]) => ({ id, value }));
  return JSON.stringify([{ flavor, fields }]);
}

/** The form field `metadata` with several catalogs, by flavor. */
export function catalogsOf(catalogs: Record<string, Record<string, unknown>>): string {
  const all = Object.entries(catalogs).flatMap(([flavor, values]) => JSON.parse(catalogOf(values, flavor)));
  return JSON.stringify(all);
}

/** Creates a series as the administrator. @returns its identifier */
export async function createSeries(
  app: TestApp,
  values: Record<string, unknown> = {},
  acl: SentAce[] = [],
): Promise<string> {
  const answer = await send(app, 'POST', '/api/series', {
    metadata: catalogOf({ title: 'Mathematics', ...values }),
    acl: JSON.stringify(acl),
  });
  expect(answer.status, answer.text).toBe(201);
  return (JSON.parse(answer.text) as { identifier: string }).identifier;
}

/** Creates a playlist as the administrator. @returns its identifier */
export async function createPlaylist(app: TestApp, values: Record<string, unknown> = {}): Promise<string> {
  const answer = await send(app, 'POST', '/api/playlists', {
    playlist: JSON.stringify({ title: 'Exercises', ...values }),
  });
  expect(answer.status, answer.text).toBe(201);
  return (JSON.parse(answer.text) as { id: string }).id;
}
