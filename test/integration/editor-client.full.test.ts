import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createApp } from '#app/app.ts';
import { ownApp } from '../support/app.ts';
import { browserAvailable } from '../support/chromium.ts';
import { recordedEvent } from '../support/editor.ts';
import { inBrowser, LOOKS, openLook } from '../support/in-browser.ts';
import { processEvent } from '../support/process-event.ts';

const EDITOR_DIR = join(import.meta.dirname, '../support/editor-client');
const app = await ownApp(undefined, { EDITOR_DIR });
const WRITERS = [
  { role: 'ROLE_USER', action: 'read' },
  { role: 'ROLE_USER', action: 'write' },
];

interface Published {
  processing_state: string;
  duration: number;
  publications: { media: { flavor: string; url: string }[]; attachments: { flavor: string; url: string }[] }[];
}

describe.skipIf(!browserAvailable())('a built editor', () => {
  const served = inBrowser(createApp(app.context).fetch);

  async function open(id: string, username: string, password: string) {
    const look = await openLook(served, LOOKS[0]);
    await look.page.goto(`${served.origin}/editor-ui/index.html?id=${id}`);
    await look.page.getByLabel('User name').fill(username);
    await look.page.getByLabel('Password').fill(password);
    await look.page.getByRole('button', { name: 'Sign in' }).click();
    return look;
  }

  test('keeps the middle third, corrects a caption and locks out a second person', async () => {
    const id = await recordedEvent(app, { flagForCutting: 'true' }, { acl: WRITERS });
    await app.account('ada');
    const first = await open(id, 'admin', 'opencast');
    const state = first.page.getByRole('status');
    await first.page.getByText(/Opened|Failed|Locked/).waitFor();
    expect(await state.textContent()).toBe('Opened');
    const seen = JSON.parse((await state.getAttribute('data-seen')) ?? '');
    expect(seen).toEqual({
      settings: { english: 'en', german: 'de' },
      language: 'en',
      frame: 'data:image/png',
      waveform: true,
      decoded: 6,
      worker: 'ready',
      style: 'rgb(1, 2, 3)',
    });

    await first.page.reload();
    await first.page.getByText(/Opened|Failed|Locked/).waitFor();
    expect(await state.textContent()).toBe('Opened');

    const second = await open(id, 'ada', 'secret');
    await second.page.getByText('Locked: Conflict').waitFor();
    await second.close();

    await first.page.getByRole('button', { name: 'Save' }).click();
    await first.page.getByText('Saved').waitFor();
    await first.page.getByRole('button', { name: 'Process' }).click();
    await first.page.getByText('Processing').waitFor();
    expect(first.faults).toEqual([]);
    await first.close();
    const held = app.database.selectFrom('editor_locks').select('uuid').where('expires_at', '>', new Date());
    expect(await held.where('event_id', '=', id).execute()).toEqual([]);

    await processEvent(app, id);
    const event = (await (await app.request(`/api/events/${id}?withpublications=true`)).json()) as Published;
    expect(event).toMatchObject({ processing_state: 'SUCCEEDED', duration: 2000 });
    const captions = event.publications
      .flatMap(({ media }) => media)
      .find(({ flavor }) => flavor === 'captions/delivery');
    const text = await (await app.request(new URL(captions?.url ?? '').pathname)).text();
    expect(text).toContain('00:00:00.500 --> 00:00:01.500\nRight word');
  });
});
