import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import { created, post, postTo } from './app-uploads.ts';
import { eventFields, field, type Part } from './form.ts';

/** What a client writes into the part `scheduling`. */
export type SchedulingJson = Record<string, unknown>;

/** An agent nobody has scheduled anything on. */
export const newAgent = () => `room ${randomUUID().slice(0, 8)}`;

/** The fields of an event that is to be recorded. */
export function scheduledFields(scheduling: SchedulingJson, title = 'Lecture'): Part[] {
  return [...eventFields({ title }), field('scheduling', JSON.stringify(scheduling))];
}

/** Schedules an event. @returns its identifier */
export async function schedule(app: TestApp, scheduling: SchedulingJson, title?: string): Promise<string> {
  return created(await post(app, scheduledFields(scheduling, title)));
}

/** Puts scheduling information. */
export function putScheduling(
  app: TestApp,
  id: string,
  scheduling: SchedulingJson | string,
  { headers = {}, ...fields }: { headers?: Record<string, string>; allowConflict?: string } = {},
): Promise<Response> {
  const text = typeof scheduling === 'string' ? scheduling : JSON.stringify(scheduling);
  return app.request(`/api/events/${id}/scheduling`, {
    method: 'PUT',
    headers,
    body: new URLSearchParams({ scheduling: text, ...fields }),
  });
}

/** Posts a form to an event. */
export const update = (app: TestApp, id: string, parts: readonly Part[], headers?: Record<string, string>) =>
  postTo(app, `/api/events/${id}`, parts, headers);
