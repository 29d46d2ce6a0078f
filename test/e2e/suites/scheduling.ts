import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { recording } from '../../support/clips.ts';
import { eventFields, field, file, type Part } from '../../support/form.ts';
import type { Suite } from '../suite.ts';

const AT_ONCE = 50;
const SLOT = { start: '2031-03-03T09:00:00Z', end: '2031-03-03T10:00:00Z' };
/** Ten mornings; whoever wants them begins and ends on another day of the same weeks. */
const WEEKDAYS = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0';
const DAY_MS = 86_400_000;

interface Conflict {
  start: string;
  end: string;
  title: string;
}

interface ScheduledEvent {
  scheduling: { agent_id?: string; start?: string; end?: string };
}

const newAgent = () => `room ${randomUUID().slice(0, 8)}`;

/** The fields of an event that is to be recorded. */
function scheduled(scheduling: Record<string, unknown>, title = 'Lecture'): Part[] {
  return [...eventFields({ title }), field('scheduling', JSON.stringify(scheduling))];
}

export const scheduling: Suite = (product) => {
  describe('requests at the same moment', () => {
    test(`one of ${AT_ONCE} for one slot gets it, the others are told what is in the way`, async () => {
      const { admin } = product();
      const agent = newAgent();
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) =>
          admin.upload(scheduled({ agent_id: agent, ...SLOT }, `Lecture ${i}`)),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([201, ...Array.from({ length: AT_ONCE - 1 }, () => 409)]);
      const stored = await eventsOf(admin, agent);
      expect(stored).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status === 409)) {
        const conflicts = (await answer.json()) as Conflict[];
        expect(conflicts).toEqual([{ ...SLOT, title: stored[0]?.title }]);
      }
    });

    test(`one of ${AT_ONCE} rules that overlap wins whole, the others leave nothing`, async () => {
      const { admin, server } = product();
      const agent = newAgent();
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => {
          const start = Date.parse('2031-04-01T08:00:00Z') + (i % 5) * DAY_MS;
          return admin.upload(
            scheduled(
              {
                agent_id: agent,
                start: new Date(start).toISOString(),
                end: new Date(start + 9.5 * DAY_MS).toISOString(),
                duration: 3_600_000,
                rrule: WEEKDAYS,
              },
              `Course ${i}`,
            ),
          );
        }),
      );
      const [won, ...others] = answers.filter(({ status }) => status === 200);
      if (!won) throw new Error('None of them won.');
      expect(others).toHaveLength(0);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(AT_ONCE - 1);
      const created = ((await won.json()) as { identifier: string }[]).map(({ identifier }) => identifier);
      expect(created).toHaveLength(10);
      const events = await eventsOf(admin, agent);
      expect(events.map(({ identifier }) => identifier).sort()).toEqual([...created].sort());
      const { schedules } = await server.database
        .selectFrom('schedules')
        .select((eb) => eb.fn.countAll<number>().as('schedules'))
        .where('agent_id', '=', agent)
        .executeTakeFirstOrThrow();
      expect(Number(schedules)).toBe(10);
    });
  });

  describe('the recording of a scheduled event', () => {
    test('ends SUCCEEDED with the duration of the media when a script uploads it late', async () => {
      const { admin } = product();
      const agent = newAgent();
      const id = await admin.create(scheduled({ agent_id: agent, start: '2024-05-06T08:00:00Z', duration: 5_400_000 }));
      expect(await admin.event(id)).toMatchObject({
        processing_state: '',
        status: 'EVENTS.EVENTS.STATUS.SCHEDULED',
        location: agent,
        start: '2024-05-06T08:00:00Z',
        duration: 5_400_000,
      });
      const clip = await recording({ seconds: 2 });
      expect((await admin.post(`/api/events/${id}`, [file('presenter', 'late.mp4', clip)])).status).toBe(204);
      const event = await admin.processed(id);
      expect(event).toMatchObject({
        processing_state: 'SUCCEEDED',
        status: 'EVENTS.EVENTS.STATUS.PROCESSED',
        start: '2024-05-06T08:00:00Z',
        publication_status: ['engage-player'],
      });
      expect(event.duration).toBeGreaterThan(1_900);
      expect(event.duration).toBeLessThan(2_300);

      const second = await admin.post(`/api/events/${id}`, [
        file('presenter', 'other.mp4', await recording({ seconds: 1 })),
      ]);
      expect(second.status).toBe(409);
      const media = await admin.json<unknown[]>(`/api/events/${id}/media`);
      expect(media).toHaveLength(1);
      expect((await admin.event(id)).duration).toBe(event.duration);
    });

    test('is taken as a track as well', async () => {
      const { admin } = product();
      const id = await admin.create(scheduled({ agent_id: newAgent(), ...SLOT }));
      const answer = await admin.post(`/api/events/${id}/track`, [
        field('flavor', 'presentation/source'),
        file('track', 'late.mp4', await recording({ seconds: 1 })),
      ]);
      expect(answer.status).toBe(200);
      expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
    });

    test('is the one of two at the same moment that was there first', async () => {
      const { admin } = product();
      const id = await admin.create(scheduled({ agent_id: newAgent(), ...SLOT }));
      const clips = [await recording({ seconds: 1 }), await recording({ seconds: 2 })];
      const answers = await Promise.all(
        clips.map((clip) => admin.post(`/api/events/${id}`, [file('presenter', 'lecture.mp4', clip)])),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
      expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
      expect(await admin.json<unknown[]>(`/api/events/${id}/media`)).toHaveLength(1);
    });
  });

  test('an agent that reports its time zone keeps the hour of a course when the clocks change', async () => {
    const { admin } = product();
    const agent = `Hörsaal ${randomUUID().slice(0, 8)}`;
    const path = `/capture-admin/agents/${encodeURIComponent(agent)}`;
    const report = await admin.fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ state: 'idle', address: 'http://10.0.0.7' }),
    });
    expect([report.status, await report.text()]).toEqual([200, `${agent} set to idle`]);
    const configured = await admin.fetch(`${path}/configuration`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        'capture.device.timezone': 'Europe/Berlin',
        'capture.device.names': 'camera,screen',
      }),
    });
    expect(configured.status).toBe(200);
    expect(await admin.json(`/api/agents/${encodeURIComponent(agent)}`)).toMatchObject({
      agent_id: agent,
      status: 'idle',
      inputs: ['camera', 'screen'],
    });

    const answer = await admin.upload(
      scheduled({
        agent_id: agent,
        start: '2031-03-24T00:00:00Z',
        end: '2031-04-05T00:00:00Z',
        duration: 3_600_000,
        rrule: 'FREQ=WEEKLY;BYDAY=TU;BYHOUR=9;BYMINUTE=0',
      }),
    );
    expect(answer.status).toBe(200);
    const starts = (await eventsOf(admin, agent)).map(({ scheduling }) => scheduling.start).sort();
    expect(starts).toEqual(['2031-03-25T09:00:00Z', '2031-04-01T08:00:00Z']);
  });
};

/** The events that are scheduled on an agent. */
function eventsOf(admin: Client, agent: string) {
  return admin.json<({ identifier: string; title: string } & ScheduledEvent)[]>(
    `/api/events?withscheduling=true&filter=${encodeURIComponent(`agent_id:${agent}`)}`,
  );
}
