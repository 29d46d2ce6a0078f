import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { CaptureAgent, Event, Schedule } from '#platform/database/schema.ts';
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
  const at = (moment: number | string) => (typeof moment === 'string' ? moment : fromNow(moment).toISOString());
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
  values: { bytes: number; minutes: number; door?: string; event?: string },
): Promise<string> {
  const { bytes, minutes, door = 'packages', event = null } = values;
  const id = randomUUID();
  const times = {
    created_at: fromNow(-minutes - 30),
    changed_at: fromNow(-minutes),
    expires_at: fromNow(600),
  };
  await database
    .insertInto('drafts')
    .values({ id, door, owner, event_id: event, ...times })
    .execute();
  const file = (size: number) => ({
    ...{ id: randomUUID(), draft_id: id, flavor: 'presenter/source', filename: 'camera.mp4' },
    ...{ mediatype: 'video/mp4', object_key: `track/${randomUUID()}`, sha256: 'a1'.repeat(32), size },
  });
  await database
    .insertInto('draft_tracks')
    .values({ ...file(bytes), position: 0 })
    .execute();
  await database.insertInto('draft_attachments').values(file(10)).execute();
  return id;
}

/** Ten agents in all states, with a day's work for most of them. */
export async function insertManyStates(database: Database): Promise<void> {
  // Where it is eleven in the morning; such names have their signs turned round.
  const ahead = 11 - new Date().getUTCHours();
  const zone = { time_zone: ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}` };
  const agents: Record<string, Partial<Insertable<CaptureAgent>>> = {
    'Hall 1': { state: 'capturing', state_since: fromNow(-35) },
    'Hall 2': {},
    'Hall 3': { state: 'uploading', state_since: fromNow(-4) },
    'Hall 4': { state: 'capturing', seen_at: fromNow(-11) },
    'Hall 5': { seen_at: fromNow(-60 * 26) },
    'Physics lab': { state: 'error', state_since: fromNow(-60 * 3) },
    Aula: {},
    'Seminar room 12': { state: 'unknown', url: '' },
    'Library studio': { state: 'shutting_down', state_since: fromNow(-1), url: 'javascript:alert(1)' },
    'Hall of another campus': {
      ...{ state: 'unknown', seen_at: null, state_since: null, url: '', time_zone: 'America/New_York' },
    },
  };
  for (const [id, values] of Object.entries(agents)) {
    const url = `https://${id.toLowerCase().replaceAll(/\W+/g, '-')}.example.org/ui`;
    await insertAgent(database, id, { ...zone, url, ...values });
  }
  type Recording = [string, number, number, string, Parameters<typeof insertRecording>[3]?];
  const done = { state: 'upload_finished', processing_state: 'SUCCEEDED' } as const;
  const recordings: Recording[] = [
    ['Hall 1', -35, 55, 'Analysis I', { state: 'capturing' }],
    ['Hall 1', -150, -60, 'Mechanics', { ...done, published: true }],
    ['Hall 2', 100, 190, 'History of the printed book and of those who read it'],
    ['Hall 2', -200, -110, 'Optics', { ...done, processing_state: 'RUNNING' }],
    ['Hall 3', -120, -30, 'Inorganic chemistry', { state: 'uploading', since: fromNow(-4) }],
    ['Hall 4', -40, 50, 'Microeconomics', { state: 'capturing' }],
    ['Hall 5', -60 * 27, -60 * 25.5, 'Ethics', { state: 'capture_error', since: fromNow(-30) }],
    ['Physics lab', -180, -90, 'Solid state physics', { state: 'capture_error', since: fromNow(-150) }],
    ['Aula', -12, 90, 'Inaugural lecture: What machines can’t learn'],
    ['Aula', -240, -200, 'Sound check', { state: 'upload_error', since: fromNow(-190) }],
    ...[-7, -3, -2, -1, 1, 2, 3].map((day): Recording => {
      const became = day < 0 ? { ...done, published: true } : {};
      return ['Hall 1', day * 1440 - 35, day * 1440 + 55, 'Analysis I', became];
    }),
  ];
  for (const [id, start, end, title, values] of recordings)
    await insertRecording(database, id, [start, end], { title, ...values });
  await insertPackage(database, 'agent-hall-3', { bytes: 13 * 2 ** 28, minutes: 1 });
  await insertPackage(database, 'studio', { bytes: 700 * 2 ** 20, minutes: 300 });
}
