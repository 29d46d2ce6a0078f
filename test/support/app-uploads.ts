import { expect } from 'vitest';
import type { TestApp } from './app.ts';
import { form, type Part } from './form.ts';
import { isRemembered } from './leftovers.ts';

/** Posts a form to /api/events. */
export function post(
  app: TestApp,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const { type, body } = form(parts);
  return app.request('/api/events', { method: 'POST', headers: { 'Content-Type': type, ...headers }, body });
}

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
