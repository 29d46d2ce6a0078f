import { expect } from 'vitest';
import type { TestApp } from './app.ts';
import { created, post } from './app-uploads.ts';
import { recording } from './clips.ts';
import { type EventFields, eventFields, field } from './form.ts';
import { processEvent } from './process-event.ts';
import { uploadOf } from './tus.ts';

/** What the tests read of `edit.json`. */
export interface EditorData {
  title: string;
  duration: number;
  segments: { start: number; end: number; deleted: boolean }[];
  tracks: {
    id: string;
    uri: string;
    flavor: { type: string };
    audio_stream: { available: boolean; enabled: boolean };
    video_stream: { available: boolean; enabled: boolean };
    thumbnailUri: string | null;
  }[];
  workflows: { id: string }[];
  waveformURIs: string[];
  subtitles: { id: string; subtitle: string; tags: string[] }[];
  chapters: { subtitle: string }[];
  workflow_active: boolean;
  lock_uuid: string;
  lock_user: string;
  customizedTrackSelection: boolean;
}

/** Creates an event with a recording and processes it as far as it goes. @returns its identifier */
export async function recordedEvent(
  app: TestApp,
  configuration: Record<string, string> = {},
  { tracks = ['presenter'], ...fields }: EventFields & { tracks?: string[] } = {},
): Promise<string> {
  const uploads: { id: string; field: string }[] = [];
  for (const name of tracks) uploads.push({ id: await uploadOf(app, await recording({ seconds: 6 })), field: name });
  const all = [...eventFields({ ...fields, configuration }), field('uploads', JSON.stringify(uploads))];
  const id = await created(await post(app, all));
  await processEvent(app, id);
  return id;
}

/** Asks for one of an event's addresses for editors; with a body, sends it as JSON. */
export function askEditor(app: TestApp, id: string, path: string, body?: unknown, init: RequestInit = {}) {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'Content-Type': 'application/json', ...(init.headers as Record<string, string>) };
  return app.request(`/editor/${id}/${path}`, { ...sent, ...init, headers });
}

export async function editorData(app: TestApp, id: string): Promise<EditorData> {
  const answer = await askEditor(app, id, 'edit.json');
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as EditorData;
}

/** The segments of a recording of which the first and the last third are deleted. */
export function middleThird(duration: number) {
  const [one, two] = [Math.round(duration / 3), Math.round((2 * duration) / 3)];
  return [
    { start: 0, end: one, deleted: true, selected: false },
    { start: one, end: two, deleted: false, selected: false },
    { start: two, end: duration, deleted: true, selected: false },
  ];
}
