import { expect } from 'vitest';
import type { TestApp } from './app.ts';
import { form, type Part } from './form.ts';
import { isRemembered } from './leftovers.ts';

type HeaderFields = Record<string, string>;

/** Posts a multipart form. */
export function postTo(app: TestApp, path: string, parts: readonly Part[], headers: HeaderFields = {}) {
  const { type, body } = form(parts);
  return app.request(path, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
}

/** Posts a form to /api/events. */
export const post = (app: TestApp, parts: readonly Part[], headers?: HeaderFields) =>
  postTo(app, '/api/events', parts, headers);

/** The identifier of the event that the answer says was created. */
export async function created(answer: Response): Promise<string> {
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  return (JSON.parse(text) as { identifier: string }).identifier;
}

/** How many events, staged objects and stored objects there are. */
export async function counts({ database, storage }: TestApp) {
  const [events, staged, stored] = await Promise.all([
    database.selectFrom('events').select('id').execute(),
    database.selectFrom('staging').selectAll().execute(),
    Array.fromAsync(storage.list('')),
  ]);
  return {
    events: events.length,
    staged: staged.filter((entry) => !isRemembered(entry)).length,
    stored: stored.length,
  };
}
