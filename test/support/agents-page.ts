import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database } from '../../src/database/kysely.ts';
import type { CaptureAgent, Event, Schedule } from '../../src/database/schema.ts';
import { insertPublication } from './publication.ts';
import { insertScheduled } from './scheduled-event.ts';

const MINUTE = 60_000;

/** A moment, in minutes from now. */
export const fromNow = (minutes: number): Date => new Date(Date.now() + minutes * MINUTE);

/** A capture agent that reported a moment ago, and what `values` says otherwise. */
export async function insertAgent(
  database: Database,
  id: string,
  values: Partial<Insertable<CaptureAgent>> = {},
): Promise<string> {
  await database
    .insertInto('capture_agents')
    .values({ id, state: 'idle', seen_at: new Date(), state_since: fromNow(-45), ...values })
    .execute();
  return id;
}

/** What an agent records, in minutes from now or at points in time; `values` is of its event. */
export async function insertRecording(
  database: Database,
  agent_id: string,
  [start, end]: readonly [number | string, number | string],
  {
    state = '',
    since,
    published = false,
    ...values
  }: Partial<Insertable<Event>> & {
    state?: Insertable<Schedule>['recording_state'];
    since?: Date | null;
    published?: boolean;
  } = {},
): Promise<string> {
  const at = (moment: number | string) =>
    typeof moment === 'string' ? moment : fromNow(moment).toISOString();
  const id = await insertScheduled(
    database,
    { agent_id, start: at(start), end: at(end), recording_state: state },
    values,
  );
  await database
    .updateTable('schedules')
    .set({ recording_state_since: since ?? null })
    .where('event_id', '=', id)
    .execute();
  if (published) await insertPublication(database, id);
  return id;
}

/** A package that somebody began, with one track of so many bytes and an attachment of ten. */
export async function insertPackage(
  database: Database,
  owner: string,
  {
    bytes,
    minutes,
    door = 'packages',
    event,
  }: { bytes: number; minutes: number; door?: string; event?: string },
): Promise<string> {
  const id = randomUUID();
  await database
    .insertInto('drafts')
    .values({
      id,
      door,
      owner,
      created_at: fromNow(-minutes - 30),
      changed_at: fromNow(-minutes),
      expires_at: fromNow(600),
      event_id: event ?? null,
    })
    .execute();
  const file = () => ({
    id: randomUUID(),
    draft_id: id,
    flavor: 'presenter/source',
    filename: 'camera.mp4',
    mediatype: 'video/mp4',
    object_key: `track/${randomUUID()}`,
    sha256: 'a1'.repeat(32),
  });
  await database
    .insertInto('draft_tracks')
    .values({ ...file(), position: 0, size: bytes })
    .execute();
  await database
    .insertInto('draft_attachments')
    .values({ ...file(), size: 10 })
    .execute();
  return id;
}

/** Ten agents in all states, with a day's work for most of them. */
export async function insertManyStates(database: Database): Promise<void> {
  // Where it is eleven in the morning; such names have their signs turned round.
  const ahead = 11 - new Date().getUTCHours();
  const zone = { time_zone: ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}` };
  const agent = (id: string, values: Partial<Insertable<CaptureAgent>> = {}) =>
    insertAgent(database, id, {
      ...zone,
      url: `https://${id.toLowerCase().replaceAll(/\W+/g, '-')}.example.org/ui`,
      ...values,
    });
  await agent('Hall 1', { state: 'capturing', state_since: fromNow(-35) });
  await agent('Hall 2');
  await agent('Hall 3', { state: 'uploading', state_since: fromNow(-4) });
  await agent('Hall 4', { state: 'capturing', seen_at: fromNow(-11) });
  await agent('Hall 5', { seen_at: fromNow(-60 * 26) });
  await agent('Physics lab', { state: 'error', state_since: fromNow(-60 * 3) });
  await agent('Aula', { state: 'idle' });
  await agent('Seminar room 12', { state: 'unknown', url: '' });
  await agent('Library studio', {
    state: 'shutting_down',
    state_since: fromNow(-1),
    url: 'javascript:alert(1)',
  });
  await insertAgent(database, 'Hall of another campus', {
    state: 'unknown',
    seen_at: null,
    state_since: null,
    time_zone: 'America/New_York',
  });
  const add = (...rest: Parameters<typeof insertRecording> extends [Database, ...infer R] ? R : never) =>
    insertRecording(database, ...rest);
  await add('Hall 1', [-35, 55], { title: 'Analysis I', state: 'capturing' });
  await add('Hall 1', [75, 165], { title: 'Linear algebra for engineers' });
  await add('Hall 1', [-150, -60], {
    title: 'Mechanics',
    state: 'upload_finished',
    processing_state: 'SUCCEEDED',
    published: true,
  });
  await add('Hall 2', [100, 190], { title: 'History of the printed book and of those who read it' });
  await add('Hall 2', [-200, -110], {
    title: 'Optics',
    state: 'upload_finished',
    processing_state: 'RUNNING',
  });
  await add('Hall 3', [-120, -30], { title: 'Inorganic chemistry', state: 'uploading', since: fromNow(-4) });
  await add('Hall 3', [30, 60], { title: 'Lab safety' });
  await add('Hall 4', [-40, 50], { title: 'Microeconomics', state: 'capturing' });
  await add('Hall 5', [-60 * 27, -60 * 25.5], {
    title: 'Ethics',
    state: 'capture_error',
    since: fromNow(-30),
  });
  await add('Physics lab', [-180, -90], {
    title: 'Solid state physics',
    state: 'capture_error',
    since: fromNow(-150),
  });
  await add('Physics lab', [60 * 20, 60 * 21.5], { title: 'Quantum mechanics' });
  await add('Aula', [-12, 90], { title: 'Inaugural lecture: What machines can’t learn' });
  await add('Aula', [-240, -200], { title: 'Sound check', state: 'upload_error', since: fromNow(-190) });
  await add('Aula', [-300, -250], {
    title: 'Rehearsal',
    state: 'upload_finished',
    processing_state: 'SUCCEEDED',
  });
  for (const day of [-7, -3, -2, -1, 1, 2, 3]) {
    await add(
      'Hall 1',
      [day * 1440 - 35, day * 1440 + 55],
      day < 0
        ? { title: 'Analysis I', state: 'upload_finished', processing_state: 'SUCCEEDED', published: true }
        : { title: 'Analysis I' },
    );
  }
  await insertPackage(database, 'agent-hall-3', { bytes: 13 * 2 ** 28, minutes: 1 });
  await insertPackage(database, 'studio', { bytes: 700 * 2 ** 20, minutes: 300 });
}
