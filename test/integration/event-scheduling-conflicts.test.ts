import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { giveAcl, traceOf } from '../support/event-writes.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, putScheduling, type SchedulingJson } from '../support/scheduling.ts';
import { ace, send } from '../support/series.ts';

const bench = EventBench.forThisFile();

const READABLE = [ace('ROLE_READER'), ace('ROLE_WRITER'), ace('ROLE_WRITER', 'write')];
const HOUR_MS = 3_600_000;
const at = (hour: number) => `2030-01-07T${String(hour).padStart(2, '0')}:00:00Z`;

/** An event that is to be recorded for an hour. */
async function scheduled(agent_id: string, hour: number, title = 'Lecture', acl = READABLE): Promise<string> {
  const schedule = { agent_id, start: at(hour), end: at(hour + 1) };
  const id = await insertScheduled(bench.app.database, schedule, { title });
  await giveAcl(bench.app, id, acl);
  return id;
}

const read = (id: string) => bench.read<SchedulingJson>(`/api/events/${id}/scheduling`);
const move = (id: string, hour: number, options: Parameters<typeof putScheduling>[3] = {}) =>
  putScheduling(bench.app, id, { start: at(hour), duration: HOUR_MS }, options);
const everything = async (id: string) => [await traceOf(bench.app, id), await read(id)];

describe('PUT /api/events/{id}/scheduling into the time of others', () => {
  test('409 with start, end and title of every event in the way, and nothing changes', async () => {
    const agent = newAgent();
    const id = await scheduled(agent, 8);
    await scheduled(agent, 10, 'Algebra');
    await scheduled(agent, 11, 'Analysis');
    await scheduled(agent, 14, 'Far away');
    const before = await everything(id);
    const answer = await putScheduling(bench.app, id, { start: at(9), end: at(12) });
    expect(answer.status).toBe(409);
    expect(answer.headers.get('Content-Type')).toBe('application/v1.11.0+json');
    expect(await answer.json()).toEqual([
      { start: at(10), end: at(11), title: 'Algebra' },
      { start: at(11), end: at(12), title: 'Analysis' },
    ]);
    expect(await everything(id)).toEqual(before);
  });

  test('the titles of events that the caller may not read stay hidden', async () => {
    const agent = newAgent();
    const id = await scheduled(agent, 8);
    await scheduled(agent, 9, 'Secret', [ace('ROLE_OTHER')]);
    const answer = await move(id, 9, { headers: bench.writer });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual([{ start: at(9), end: at(10), title: '' }]);
  });

  test('an event is never in its own way', async () => {
    const id = await scheduled(newAgent(), 8);
    expect((await putScheduling(bench.app, id, { start: '2030-01-07T08:10:00Z', end: at(10) })).status).toBe(
      204,
    );
  });

  test('recordings may touch', async () => {
    const agent = newAgent();
    const id = await scheduled(agent, 8);
    await scheduled(agent, 10);
    await scheduled(agent, 12);
    expect((await move(id, 11)).status).toBe(204);
  });

  test('what another agent records is in the way of nobody', async () => {
    const id = await scheduled(newAgent(), 8);
    await scheduled(newAgent(), 9);
    expect((await move(id, 9)).status).toBe(204);
  });

  test('409 for another agent that is taken then', async () => {
    const busy = newAgent();
    const id = await scheduled(newAgent(), 8);
    await scheduled(busy, 8, 'Busy');
    const answer = await putScheduling(bench.app, id, { agent_id: busy, end: at(9) });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual([{ start: at(8), end: at(9), title: 'Busy' }]);
  });

  test('the time that an event leaves is free for others', async () => {
    const agent = newAgent();
    const [first, second] = [await scheduled(agent, 8), await scheduled(agent, 10)];
    expect((await move(second, 8)).status).toBe(409);
    expect((await move(first, 12)).status).toBe(204);
    expect((await move(second, 8)).status).toBe(204);
  });

  test('the time of a deleted event is free for others', async () => {
    const agent = newAgent();
    const [first, second] = [await scheduled(agent, 8), await scheduled(agent, 10)];
    expect((await send(bench.app, 'DELETE', `/api/events/${first}`)).status).toBe(204);
    expect((await move(second, 8)).status).toBe(204);
  });

  test('of twenty events that are moved to the same time at once, one arrives', async () => {
    const agent = newAgent();
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) => scheduled(newAgent(), 8, `Lecture ${i}`)),
    );
    const answers = await Promise.all(
      ids.map((id) => putScheduling(bench.app, id, { agent_id: agent, start: at(9), end: at(10) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(19).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    const [loser] = answers.filter(({ status }) => status === 409);
    expect(await loser?.json()).toEqual([{ start: at(9), end: at(10), title: `Lecture ${winner}` }]);
    const agents = await Promise.all(ids.map(async (id) => (await read(id)).agent_id));
    expect(agents.filter((each) => each === agent)).toHaveLength(1);
  });

  test('two events that change places at once do not wait for each other for ever', async () => {
    const [left, right] = [newAgent(), newAgent()];
    const [one, other] = [await scheduled(left, 8), await scheduled(right, 8)];
    const answers = await Promise.all([
      putScheduling(bench.app, one, { agent_id: right, end: at(9) }),
      putScheduling(bench.app, other, { agent_id: left, end: at(9) }),
    ]);
    for (const { status } of answers) expect([204, 409]).toContain(status);
    const agents = [(await read(one)).agent_id, (await read(other)).agent_id];
    expect(new Set(agents).size).toBe(2);
  });
});

describe('allowConflict', () => {
  test.each(['true', 'TRUE'])('%s lets an administrator schedule what conflicts', async (allowConflict) => {
    const agent = newAgent();
    const [one, other] = [await scheduled(agent, 8), await scheduled(agent, 10)];
    expect((await move(one, 10, { allowConflict })).status).toBe(204);
    expect(await read(one)).toEqual({ agent_id: agent, start: at(10), end: at(11) });
    expect(await read(other)).toEqual({ agent_id: agent, start: at(10), end: at(11) });
  });

  test.each(['false', '1', 'yes', ''])('%j lets nobody', async (allowConflict) => {
    const agent = newAgent();
    const id = await scheduled(agent, 8);
    await scheduled(agent, 10);
    expect((await move(id, 10, { allowConflict })).status).toBe(409);
  });

  test('has no effect for anybody else', async () => {
    const agent = newAgent();
    const id = await scheduled(agent, 8);
    await scheduled(agent, 10);
    expect((await move(id, 10, { allowConflict: 'true', headers: bench.writer })).status).toBe(409);
  });

  test.each([
    ['1.1.0', 409],
    ['1.2.0', 204],
  ])('in %s: %i', async (version, status) => {
    const agent = newAgent();
    const id = await scheduled(agent, 8);
    await scheduled(agent, 10);
    const headers = { Accept: `application/v${version}+json` };
    expect((await move(id, 10, { allowConflict: 'true', headers })).status).toBe(status);
  });

  test('opens the time to nobody who does not ask for it, and both are in their way', async () => {
    const agent = newAgent();
    const [one, two, three] = [
      await scheduled(agent, 8, 'One'),
      await scheduled(agent, 10, 'Two'),
      await scheduled(agent, 12, 'Three'),
    ];
    expect((await move(one, 10, { allowConflict: 'true' })).status).toBe(204);
    const answer = await move(three, 10, { headers: bench.writer });
    expect(answer.status).toBe(409);
    const titles = ((await answer.json()) as { title: string }[]).map(({ title }) => title);
    expect(titles.sort()).toEqual(['One', 'Two']);
    expect((await move(two, 14)).status).toBe(204);
    expect((await move(three, 10)).status).toBe(409);
  });

  test('what overlaps by permission may be put back as it was read', async () => {
    const agent = newAgent();
    const [one] = [await scheduled(agent, 8), await scheduled(agent, 10)];
    await move(one, 10, { allowConflict: 'true' });
    expect((await putScheduling(bench.app, one, await read(one), { headers: bench.writer })).status).toBe(
      204,
    );
    const withInputs = { ...(await read(one)), inputs: ['camera'] };
    expect((await putScheduling(bench.app, one, withInputs, { headers: bench.writer })).status).toBe(204);
  });
});
