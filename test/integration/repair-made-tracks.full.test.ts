import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { verifyCommand } from '../../src/cli/inlet/verify.ts';
import { objectKey } from '../../src/storage/keys.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { eventFields, file } from '../support/form.ts';
import { siteFolders } from '../support/site-folders.ts';
import { say } from '../support/upkeep.ts';

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

async function repairNow() {
  const site = await siteFolders();
  onTestFinished(site.remove);
  const { databaseUrl, config } = app.context;
  const env = { WORKFLOWS_DIR: site.workflows };
  return say(verifyCommand, { databaseUrl, dataDir: config.dataDir, env }, ['--repair']);
}
const workflows = () =>
  app.database.selectFrom('workflows').select(['id', 'definition']).orderBy('id').execute();

const SUBTITLES = { program: 'subtitles.sh', output_flavor: 'captions/source', output_tags: 'lang:en' };

/** An event whose workflow has ended, with a track that a program of the site made and whose object has gone. */
async function lackingMadeTrack(definition: string, operations: readonly string[]): Promise<string> {
  const { database } = app;
  const event = await created(
    await post(app, [...eventFields(), file('presenter', 'camera.mp4', bytes(500))]),
  );
  await database.updateTable('events').set({ processing_state: 'SUCCEEDED' }).execute();
  const { id } = await database
    .updateTable('workflows')
    .set({ definition, state: 'SUCCEEDED' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await database.deleteFrom('workflow_operations').execute();
  await database
    .insertInto('workflow_operations')
    .values(
      operations.map((operation, position) => ({
        ...{ workflow_id: id, position, operation, state: 'succeeded', max_attempts: 1, time_limit_ms: 1000 },
        configuration: JSON.stringify(operation === 'command' ? SUBTITLES : {}),
      })),
    )
    .execute();
  await database
    .insertInto('tracks')
    .values({
      ...{ id: randomUUID(), event_id: event, position: 1, flavor: 'captions/source', filename: 'en.vtt' },
      ...{ mediatype: 'text/vtt', object_key: objectKey('track'), size: 9, sha256: sha256(bytes(9)) },
      made_by: 'command subtitles.sh  captions/source lang:en',
    })
    .execute();
  return event;
}

const publish = (event: string) =>
  app.database
    .insertInto('publications')
    .values({ id: randomUUID(), event_id: event, channel: 'engage-player', mediatype: 'text/html' })
    .execute();

test('a track that a program made is made anew by the workflow that ran it', async () => {
  const event = await lackingMadeTrack('subtitled', ['inspect', 'command']);
  await publish(event);
  const { lines } = await repairNow();
  expect(lines).toEqual([expect.stringMatching(/^missing track.*\n {2}begun: workflow /)]);
  expect(await workflows()).toMatchObject([{ definition: 'subtitled' }, { definition: 'subtitled' }]);
});

test('a later workflow that ran the same program on other tracks makes none of it', async () => {
  const event = await lackingMadeTrack('subtitled', ['inspect', 'command']);
  await publish(event);
  const { id } = await app.database
    .insertInto('workflows')
    .values({
      ...{ event_id: event, definition: 'other', title: '', configuration: '{}', state: 'SUCCEEDED' },
      ...{ creator: '', request_id: '' },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await app.database
    .insertInto('workflow_operations')
    .values({
      ...{ workflow_id: id, position: 0, operation: 'command', state: 'succeeded', max_attempts: 1 },
      ...{ time_limit_ms: 1000, configuration: JSON.stringify({ ...SUBTITLES, tracks: 'presentation/*' }) },
    })
    .execute();
  const { lines } = await repairNow();
  expect(lines).toEqual([expect.stringMatching(/^missing track.*\n {2}begun: workflow /)]);
  expect((await workflows()).map(({ definition }) => definition)).toEqual([
    'subtitled',
    'other',
    'subtitled',
  ]);
});

test.each([
  ['is not among the site’s any more', 'removed', ['command']],
  ['is not known any more', 'subtitled', ['inspect', 'encode', 'publish']],
])('a track that a program made is told, and nothing is begun, where its workflow %s', async (_, ...run) => {
  await publish(await lackingMadeTrack(...(run as [string, string[]])));
  const { code, lines } = await repairNow();
  expect(lines).toEqual([expect.stringMatching(/^missing track.*\n {2}left: a program of the site made it/)]);
  expect(code).toBe(1);
  expect(await workflows()).toHaveLength(1);
});

test('a recording that was retracted is not published by a repair', async () => {
  await lackingMadeTrack('subtitled', ['inspect', 'command', 'encode', 'publish']);
  const { code, lines } = await repairNow();
  expect(lines).toEqual([expect.stringMatching(/^missing track.*\n {2}left: .*"engage-player"/)]);
  expect(code).toBe(1);
  expect(await workflows()).toHaveLength(1);
});
