import { describe, expect, test } from 'vitest';
import { fromNow, insertAgent, insertPackage, insertRecording } from '../support/agents-page.ts';
import { agentsPageForThisFile } from '../support/agents-page-app.ts';
import { agents, section } from '../support/agents-page-words.ts';

const page = agentsPageForThisFile();
const { text } = page;

describe('recordings that failed', () => {
  test('stand there with what happened and what to do, the last one first', async () => {
    await insertAgent(page.app.database, 'Hall', { time_zone: 'Europe/Berlin', url: 'http://hall.test' });
    const add = (
      title: string,
      ...rest: [state: 'capture_error' | 'upload_error' | 'manifest_error', since: Date | null, end: string]
    ) =>
      insertRecording(
        page.app.database,
        'Hall',
        [new Date(Date.parse(rest[2]) - 3_600_000).toISOString(), rest[2]],
        { title, state: rest[0], since: rest[1] },
      );
    const ended = (minutes: number) => fromNow(minutes).toISOString();
    await add('reported', 'capture_error', fromNow(-100), ended(-101));
    await add('missed', 'capture_error', fromNow(-5), ended(-1446));
    await add('missed before it had a date', 'capture_error', null, ended(-2000));
    await add('upload', 'upload_error', fromNow(-50), ended(-200));
    await add('package', 'manifest_error', fromNow(-60), ended(-300));
    await add('long ago', 'upload_error', fromNow(-8 * 1440), ended(-9 * 1440));
    const id = await insertRecording(page.app.database, 'Hall', [-4000, -3900], {
      title: 'came after all',
      state: 'upload_error',
      since: fromNow(-1),
    });
    await page.app.database
      .updateTable('events')
      .set({ processing_state: 'SUCCEEDED' })
      .where('id', '=', id)
      .execute();
    const failed = section(await text(), 'failed');
    expect(failed).toMatch(
      /missed Hall .*Nothing ever came of it.* upload Hall .*The upload failed, and the agent has the files still\. It does not try again by itself: start the upload there\. hall\.test 50 min ago package Hall .*put its files together.* reported Hall .*The agent could not record it\..* missed before it had a date Hall .*Nothing ever came/,
    );
    expect(failed).not.toMatch(/long ago|came after all/);
    expect(section(await text('?agent=Hall'), 'failed')).toBe(failed);
    await insertAgent(page.app.database, 'Other');
    expect(section(await text('?agent=Other'), 'failed')).toContain('None within');
  });

  test('are no more than fifty', async () => {
    for (let i = 0; i < 60; i++) {
      await insertRecording(page.app.database, 'Hall', [-100 * i - 100, -100 * i - 10], {
        state: 'upload_error',
      });
    }
    const shown = await text();
    expect(section(shown, 'failed').match(/The upload failed/g)).toHaveLength(50);
    expect(section(shown, 'failed')).toContain('These are the last 50.');
    expect(agents(shown)[0]).toContain('60 recordings failed lately');
  });
});

test('what is being uploaded stands there, and what was put together and left', async () => {
  await insertRecording(page.app.database, 'Hall', [-120, -30], {
    title: 'Chemistry',
    state: 'uploading',
    since: fromNow(-4),
  });
  await insertRecording(page.app.database, 'Hall', [-220, -130], {
    title: 'Physics',
    state: 'upload_finished',
  });
  const fresh = await insertPackage(page.app.database, 'hall-account', { bytes: 2 ** 30, minutes: 3 });
  const left = await insertPackage(page.app.database, 'studio', { bytes: 1014, minutes: 90 });
  await insertPackage(page.app.database, 'ingested', { bytes: 1, minutes: 90, event: 'event' });
  await insertPackage(page.app.database, 'elsewhere', { bytes: 1, minutes: 90, door: 'uploads' });
  const shown = await text();
  expect(section(shown, 'uploading')).toMatch(/Chemistry Hall .* for 4 min$/);
  expect(section(shown, 'uploading')).not.toContain('Physics');
  const packages = section(shown, 'packages');
  expect(packages).toMatch(
    new RegExp(
      `hall-account ${fresh} 2 elements, 1\\.0 GiB begun 33 min ago last change 3 min ago studio ${left} 2 elements, 1\\.0 KiB Nothing has come for an hour or more\\. begun 2 h ago last change 90 min ago$`,
    ),
  );
  expect(packages).not.toMatch(/ingested$|elsewhere/);
});
