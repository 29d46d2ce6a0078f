import { expect, test } from 'vitest';
import { createTestApp } from '../support/app.ts';
import { created, post, postTo } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { licenseCatalog } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { scheduledFields } from '../support/scheduling.ts';
import { ace, catalogsOf, createSeries } from '../support/series.ts';

/** What it takes. It took 48 when each edit asked for the state of the event by itself. */
const MOST = 20;

test('an update of everything that an event has costs few statements', async () => {
  const folder = await licenseCatalog();
  let logged: LoggedDatabase | undefined;
  const app = await createTestApp(
    undefined,
    { METADATA_DIR: folder.dir },
    {
      database: (url) => {
        logged = loggedDatabase(url, 10);
        return logged.database;
      },
    },
  );
  try {
    const series = await createSeries(app, {}, [ace('ROLE_READER')]);
    const period = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
    const id = await created(await post(app, scheduledFields({ agent_id: 'hall 1', ...period })));
    logged?.forget();
    const answer = await postTo(app, `/api/events/${id}`, [
      field('acl', JSON.stringify([ace('ROLE_READER'), ace('ROLE_WRITER', 'write')])),
      field(
        'metadata',
        catalogsOf({
          'dublincore/episode': { title: 'After', isPartOf: series, creator: ['admin'] },
          'license/episode': { licensor: 'Ada' },
        }),
      ),
      field('scheduling', JSON.stringify({ agent_id: 'hall 2', start: '2030-01-08T09:00:00Z', duration: 1000 })),
      field('processing', JSON.stringify({ workflow: 'publish', configuration: { a: 'b' } })),
      file('presenter', 'lecture.mp4', bytes(1000)),
    ]);
    expect(answer.status, await answer.text()).toBe(204);
    const statements = logged?.queries.map(({ sql }) => sql.replaceAll(/\s+/g, ' ')) ?? [];
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(MOST);
  } finally {
    await app.close();
    await folder.remove();
  }
});
