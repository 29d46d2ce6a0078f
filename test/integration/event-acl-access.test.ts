import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { sendForm } from '../support/event-writes.ts';
import { field } from '../support/form.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

const bench = EventBench.forThisFile({ own: false });
const OWN = [ace('ROLE_READER'), ace('ROLE_WRITER', 'write'), ace('ROLE_DENIED', 'read', false)];

const put = (id: string, acl: unknown, headers = {}) =>
  send(
    bench.app,
    'PUT',
    `/api/events/${id}/acl`,
    { acl: typeof acl === 'string' ? acl : JSON.stringify(acl) },
    headers,
  );

const REQUESTS: [method: string, path: string, fields: Record<string, string> | undefined][] = [
  ['PUT', '', { acl: 'not even JSON' }],
  ['POST', '/read', {}],
  ['DELETE', '/read/ROLE_NOBODY', undefined],
];

test.each([['GET', '', undefined] as (typeof REQUESTS)[number], ...REQUESTS])(
  '%s /acl%s of an event that is not there, or must not be seen, is 404 before anything else is looked at',
  async (method, path, fields) => {
    const hidden = await bench.event({}, OWN);
    expect(await send(bench.app, method, `/api/events/nowhere/acl${path}`, fields)).toMatchObject({
      status: 404,
      text: "Cannot find an event with id 'nowhere'.",
    });
    expect(
      await send(bench.app, method, `/api/events/${hidden}/acl${path}`, fields, bench.stranger),
    ).toMatchObject({
      status: 404,
      text: `Cannot find an event with id '${hidden}'.`,
    });
  },
);

test.each(REQUESTS)('%s /acl%s by somebody who may only read is 401', async (method, path, fields) => {
  expect(
    await send(
      bench.app,
      method,
      `/api/events/${await bench.event({}, OWN)}/acl${path}`,
      fields,
      bench.reader,
    ),
  ).toMatchObject({
    status: 401,
    text: 'unauthorized',
  });
});

test.each(['INSTANTIATED', 'RUNNING', 'PAUSED'])(
  'while a workflow is %s every change is refused with an empty 403',
  async (processing_state) => {
    const id = await bench.event({ processing_state }, OWN);
    const requests: typeof REQUESTS = [
      ['PUT', '', { acl: '[]' }],
      ['POST', '/play', { role: 'ROLE_A' }],
      ['DELETE', '/read/ROLE_READER', undefined],
    ];
    for (const [method, path, fields] of requests) {
      expect(await send(bench.app, method, `/api/events/${id}/acl${path}`, fields)).toMatchObject({
        status: 403,
        text: '',
      });
    }
    expect(await bench.acl(id)).toEqual(OWN);
    expect(await bench.version(id)).toBe(0);
  },
);

test('changes to the ACLs of events and of their series at once all succeed', async () => {
  const series = await createSeries(bench.app, {}, [ace('ROLE_COURSE')]);
  const ids = await Promise.all(Array.from({ length: 4 }, () => bench.event({ series_id: series }, [])));
  const seriesAcl = (i: number) =>
    send(bench.app, 'PUT', `/api/series/${series}/acl`, { acl: JSON.stringify([ace(`ROLE_${i}`)]) });
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all([
      seriesAcl(round),
      ...ids.map((id) => put(id, round % 2 === 0 ? [ace('ROLE_OWN')] : [])),
      seriesAcl(round),
      ...ids.map((id) =>
        sendForm(bench.app, `/api/events/${id}`, [
          field('metadata', catalogOf({ title: `Round ${round}` }, 'dublincore/episode')),
        ]),
      ),
    ]);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  }
  const { rows } = await sql`SELECT DISTINCT read_roles FROM events WHERE series_id = ${series}`.execute(
    bench.app.database,
  );
  expect(rows).toEqual([{ read_roles: ['ROLE_OWN'] }]);
});
